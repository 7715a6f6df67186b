// temporal.cuh: the calendar. A DATE is days since 1970-01-01, a DATETIME microseconds since then, a TIME signed microseconds.
// sql/types/civil.go, temporal.go and interval.go are what it agrees with.
#pragma once
#include "arith.cuh"

constexpr i64 micros_per_second = 1000000;
constexpr i64 micros_per_minute = 60 * micros_per_second;
constexpr i64 micros_per_hour = 60 * micros_per_minute;
constexpr i64 micros_per_day = 24 * micros_per_hour;
constexpr i64 min_date = -719528, max_date = 2932896; // 0000-01-01 and 9999-12-31
constexpr i64 min_datetime = min_date * micros_per_day, max_datetime = (max_date + 1) * micros_per_day - 1;
constexpr i64 max_time = 838 * micros_per_hour + 59 * micros_per_minute + 59 * micros_per_second;

RADISH_FN bool valid_date(i64 days) { return days >= min_date && days <= max_date; }
RADISH_FN bool valid_datetime(i64 t) { return t >= min_datetime && t <= max_datetime; }
constexpr i64 first_reached = min_date + 366; // 0001-01-01: days and what is shorter lead to no earlier date

// The quotient rounded down.
template <i64 Unit>
RADISH_FN i64 floor_div(i64 x) {
  i64 q = x / Unit;
  return q - (x - q * Unit < 0 ? 1 : 0);
}
RADISH_FN i64 date_of(i64 datetime) { return floor_div<micros_per_day>(datetime); }
RADISH_FN i64 time_of(i64 datetime) { return datetime - date_of(datetime) * micros_per_day; }

// Years count from March, so that the leap day comes last (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", 2013).
RADISH_FN i64 days_of(i64 year, i64 month, i64 day) {
  u32 y = (u32)(year + 400), m = (u32)month;
  if (m <= 2) {
    y--;
    m += 12;
  }
  u32 era = y / 400, yoe = y % 400;
  u32 doy = (153 * (m - 3) + 2) / 5 + (u32)day - 1;
  u32 doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
  return (i64)era * 146097 + doe - 719468 - 146097;
}

// Divisions by constants are multiplications that are exact on the range (Neri and Schneider, "Euclidean affine functions and
// their application to calendar algorithms", 2022).
struct MarchYear {
  i64 year;
  u32 day; // since 1 March, 0..365
};
RADISH_FN MarchYear march_year(i64 days) {
  u32 n1 = 4 * (u32)(days + 719468 + 146097) + 3;
  u32 century = n1 / 146097;
  u32 n2 = n1 % 146097 | 3;
  u64 p2 = (u64)2939745 * n2;
  return {(i64)(100 * century + (u32)(p2 >> 32)) - 400, (u32)p2 / 2939745 / 4};
}
struct Civil {
  i64 year, month, day;
};
RADISH_FN Civil civil_of(i64 days) {
  MarchYear m = march_year(days);
  u32 n3 = 2141 * m.day + 197913;
  bool next = m.day >= 306;
  return {m.year + next, (i64)(n3 >> 16) - (next ? 12 : 0), (i64)((n3 & 0xffff) / 2141) + 1};
}
RADISH_FN i64 year_of(i64 days) {
  MarchYear m = march_year(days);
  return m.year + (m.day >= 306);
}
RADISH_FN i64 month_of(i64 days) { return civil_of(days).month; }
RADISH_FN i64 day_of(i64 days) { return civil_of(days).day; }
RADISH_FN i64 quarter_of(i64 days) { return (month_of(days) + 2) / 3; }
RADISH_FN i64 day_of_year(i64 days) { return days - days_of(year_of(days), 1, 1) + 1; }
RADISH_FN i64 weekday_of(i64 days) { return ((days - min_date + 5) % 7 + 7) % 7; }
RADISH_FN i64 day_of_week(i64 days) { return (weekday_of(days) + 1) % 7 + 1; }

RADISH_FN bool is_leap(i64 year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }
RADISH_FN i64 days_in_month(i64 year, i64 month) {
  return month == 2 ? 28 + is_leap(year) : 30 + ((month + (month >> 3)) & 1);
}
RADISH_FN i64 last_day(i64 days) {
  Civil c = civil_of(days);
  return days + days_in_month(c.year, c.month) - c.day;
}
// The day of a date; true where there is no such date.
RADISH_FN bool make_days(i64 year, i64 month, i64 day, i64& days) {
  days = 0;
  if (year < 0 || year > 9999 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month)) return true;
  days = days_of(year, month, day);
  return false;
}

// WEEK and YEARWEEK: bits of MySQL's week behaviour (sql_time.cc, calc_week).
constexpr i64 week_monday_first = 1, week_year = 2, week_first_weekday = 4;
RADISH_FN i64 week_flags(i64 mode) {
  mode &= 7;
  return mode & week_monday_first ? mode : mode ^ week_first_weekday;
}
struct Week {
  i64 year, week;
};
RADISH_NOINLINE Week week_of(i64 days, i64 flags) {
  i64 year = year_of(days), first = days_of(year, 1, 1), weekday = weekday_of(first);
  if (!(flags & week_monday_first)) weekday = (weekday + 1) % 7;
  bool of_year = (flags & week_year) != 0, full = (flags & week_first_weekday) != 0;
  // Does the first, partial week belong to the year before?
  bool partial = full ? weekday != 0 : weekday >= 4;
  if (days - first < 7 - weekday) {
    if (!of_year && partial) return {year, 0};
    of_year = true;
    year--;
    i64 n = 365 + is_leap(year);
    first -= n;
    weekday = (weekday + 53 * 7 - n) % 7;
    partial = full ? weekday != 0 : weekday >= 4;
  }
  i64 since = days - (partial ? first + 7 - weekday : first - weekday);
  if (of_year && since >= 52 * 7) {
    weekday = (weekday + 365 + is_leap(year)) % 7;
    partial = full ? weekday != 0 : weekday >= 4;
    if (!partial) return {year + 1, 1};
  }
  return {year, since / 7 + 1};
}
RADISH_FN i64 week(i64 days, i64 mode) { return week_of(days, week_flags(mode)).week; }
RADISH_FN i64 year_week(i64 days, i64 mode) {
  Week w = week_of(days, week_flags(mode) | week_year);
  return w.year * 100 + w.week;
}

// Rounding to the microseconds of the last digit that stays, half up; TIMEs half away from zero.
template <i64 Unit>
RADISH_FN i64 round_datetime(i64 t) {
  i64 rest = t % Unit;
  if (rest < 0) rest += Unit;
  return t - rest + (Unit > 1 && rest >= Unit / 2 ? Unit : 0);
}
template <i64 Unit>
RADISH_FN i64 round_time(i64 t) {
  i64 q = t / Unit, rest = t - q * Unit;
  if (Unit > 1) q += (rest >= Unit / 2 ? 1 : 0) - (-rest >= Unit / 2 ? 1 : 0);
  t = q * Unit;
  return t > max_time ? max_time : t < -max_time ? -max_time : t;
}

// In numeric context: 20200102, 20200102030405, [-]HHMMSS; cut to seconds.
RADISH_FN i64 date_number(i64 days) {
  Civil c = civil_of(days);
  return c.year * 10000 + c.month * 100 + c.day;
}
RADISH_FN i64 clock_number(i64 t) { // t >= 0
  i64 s = t / micros_per_second;
  return s / 3600 * 10000 + s / 60 % 60 * 100 + s % 60;
}
RADISH_FN i64 time_number(i64 t) { return t < 0 ? -clock_number(-t) : clock_number(t); }
RADISH_FN i64 datetime_number(i64 t) {
  i64 days = date_of(t);
  return date_number(days) * 1000000 + clock_number(t - days * micros_per_day);
}
// With fsp digits of the fraction: a DECIMAL's unscaled value. Unit is the microseconds of its last digit.
template <i64 Unit>
RADISH_FN i128 datetime_decimal(i64 t) {
  return (i128)datetime_number(t) * (micros_per_second / Unit) + (t - date_of(t) * micros_per_day) % micros_per_second / Unit;
}
template <i64 Unit>
RADISH_FN i64 time_decimal(i64 t) {
  return time_number(t) * (micros_per_second / Unit) + t % micros_per_second / Unit;
}

// A number YYYYMMDD[HHMMSS], with years of two digits too; true where it is no date (types.DatetimeFromNumber).
RADISH_NOINLINE bool datetime_of_number(i64 n, i64& t) {
  t = 0;
  if (n < 10000101000000LL) {
    if (n < 101) return true;
    if (n <= 691231) n = (n + 20000000) * 1000000;
    else if (n < 700101) return true;
    else if (n <= 991231) n = (n + 19000000) * 1000000;
    else if (n < 10000101) return true;
    else if (n <= 99991231) n *= 1000000;
    else if (n < 101000000) return true;
    else if (n <= 691231235959LL) n += 20000000000000LL;
    else if (n < 700101000000LL) return true;
    else if (n <= 991231235959LL) n += 19000000000000LL;
  }
  if (n > 99991231235959LL) return true;
  i64 date = n / 1000000, clock = n % 1000000, days;
  if (make_days(date / 10000, date / 100 % 100, date % 100, days)) return true;
  if (clock / 10000 > 23 || clock / 100 % 100 > 59 || clock % 100 > 59) return true;
  t = days * micros_per_day + clock / 10000 * micros_per_hour + clock / 100 % 100 * micros_per_minute + clock % 100 * micros_per_second;
  return false;
}

// Intervals. n units of size; true where that is longer than any two dates are apart.
RADISH_FN bool interval_of(i64 n, i64 size, i64& r) {
  r = wrap_mul(n, size);
  return (u128)magnitude(n) * (u64)size > (u128)1 << 62;
}
// Each is true where the result leaves its range.
RADISH_FN bool add_months(i64 days, i64 months, i64& r) {
  r = 0;
  if (months < -120000 || months > 120000) return true;
  Civil c = civil_of(days);
  i64 n = c.year * 12 + c.month - 1 + months;
  if (n < 0 || n >= 120000) return true;
  i64 year = n / 12, month = n % 12 + 1, last = days_in_month(year, month);
  r = days_of(year, month, c.day < last ? c.day : last);
  return false;
}
RADISH_FN bool add_days(i64 days, i64 more, i64& r) {
  r = wrap_add(days, more);
  return r < first_reached || r > max_date;
}
RADISH_FN bool add_micros(i64 t, i64 micros, i64& r) {
  r = wrap_add(t, micros);
  return micros > max_datetime - min_datetime || micros < min_datetime - max_datetime || r < first_reached * micros_per_day || r > max_datetime;
}
RADISH_FN bool add_months_datetime(i64 t, i64 months, i64& r) {
  i64 date = date_of(t), days;
  bool over = add_months(date, months, days);
  r = over ? t : t + (days - date) * micros_per_day;
  return over;
}
RADISH_FN bool add_to_time(i64 t, i64 micros, i64& r) {
  r = wrap_add(t, micros);
  return micros > 2 * max_time || micros < -2 * max_time || r > max_time || r < -max_time;
}

// TIMESTAMPDIFF in months: a month is whole when the later moment has reached the earlier one's day and time of day.
RADISH_NOINLINE i64 months_between(i64 from, i64 to) {
  i64 sign = 1;
  if (to < from) {
    swap_values(from, to);
    sign = -1;
  }
  Civil a = civil_of(date_of(from)), b = civil_of(date_of(to));
  i64 months = (b.year - a.year) * 12 + b.month - a.month;
  if (b.day < a.day || (b.day == a.day && time_of(to) < time_of(from))) months--;
  return sign * months;
}

// MAKEDATE and FROM_DAYS; true where the result is NULL.
RADISH_FN i64 full_year(i64 year) { return year < 70 ? year + 2000 : year < 100 ? year + 1900 : year; }
RADISH_FN bool make_date(i64 year, i64 day, i64& r) {
  r = 0;
  if (year < 0 || year > 9999 || day < 1 || day > max_date - min_date + 1) return true;
  r = days_of(full_year(year), 1, 1) + day - 1;
  return !valid_date(r);
}
RADISH_FN bool from_days(i64 n, i64& r) {
  r = wrap_sub(n, -min_date);
  return n <= 365 || n > max_date - min_date;
}
