package sqlerr

import "fmt"

// Code is a MySQL error number. A Code is itself an error, so that errors.Is(err, sqlerr.CodeDupEntry) works.
type Code uint16

// Error makes a Code a target for errors.Is.
func (c Code) Error() string { return fmt.Sprintf("MySQL error %d", uint16(c)) }

// State returns the number's SQLSTATE; HY000 (general error) where the standard has no class for it.
func (c Code) State() string {
	if s, ok := states[c]; ok {
		return s
	}
	return "HY000"
}

// MySQL's error numbers, as far as Radish uses them (mysqld_ername.h of MySQL 8.0).
const (
	CodeDBCreateExists           Code = 1007
	CodeDBDropExists             Code = 1008
	CodeFileNotFound             Code = 1017
	CodeErrorOnRead              Code = 1024
	CodeErrorOnWrite             Code = 1026
	CodeNoDatabaseSelected       Code = 1046
	CodeBadNull                  Code = 1048
	CodeUnknownDatabase          Code = 1049
	CodeTableExists              Code = 1050
	CodeUnknownTable             Code = 1051
	CodeAmbiguousColumn          Code = 1052
	CodeUnknownColumn            Code = 1054
	CodeNotGroupBy               Code = 1055
	CodeWrongGroupField          Code = 1056
	CodeIdentifierTooLong        Code = 1059
	CodeDupFieldName             Code = 1060
	CodeDupKeyName               Code = 1061
	CodeDupEntry                 Code = 1062
	CodeWrongFieldSpec           Code = 1063
	CodeParseError               Code = 1064
	CodeEmptyQuery               Code = 1065
	CodeNonUniqTable             Code = 1066
	CodeInvalidDefault           Code = 1067
	CodeMultiplePrimaryKey       Code = 1068
	CodeKeyColumnMissing         Code = 1072
	CodeTooBigFieldLength        Code = 1074
	CodeFileExists               Code = 1086
	CodeCantDropFieldOrKey       Code = 1091
	CodeNoTablesUsed             Code = 1096
	CodeBlobCantHaveDefault      Code = 1101
	CodeWrongTableName           Code = 1103
	CodeUnknownError             Code = 1105
	CodeUnknownTableIn           Code = 1109
	CodeFieldSpecifiedTwice      Code = 1110
	CodeInvalidGroupFunc         Code = 1111
	CodeTableMustHaveColumns     Code = 1113
	CodeTableLockedForReading    Code = 1099
	CodeTableNotLocked           Code = 1100
	CodeUnknownCharset           Code = 1115
	CodeWrongValueCount          Code = 1136
	CodeRegexp                   Code = 1139
	CodeMixOfGroupFunc           Code = 1140
	CodeNoSuchTable              Code = 1146
	CodePacketTooLarge           Code = 1153
	CodeWrongColumnName          Code = 1166
	CodeUpdateWithoutKey         Code = 1175
	CodeUnknownVariable          Code = 1193
	CodeLockWaitTimeout          Code = 1205
	CodeWrongArguments           Code = 1210
	CodeWrongUsage               Code = 1221
	CodeWrongNumberOfColumns     Code = 1222
	CodeWrongValueForVar         Code = 1231
	CodeWrongTypeForVar          Code = 1232
	CodeNotSupported             Code = 1235
	CodeReadOnlyVariable         Code = 1238
	CodeOperandColumns           Code = 1241
	CodeSubqueryNo1Row           Code = 1242
	CodeUnknownStatement         Code = 1243
	CodeIllegalReference         Code = 1247
	CodeDerivedMustHaveAlias     Code = 1248
	CodeRowTooFewFields          Code = 1261
	CodeRowTooManyFields         Code = 1262
	CodeOutOfRangeForColumn      Code = 1264
	CodeDataTruncated            Code = 1265
	CodeCantAggregate2Collations Code = 1267
	CodeCantAggregate3Collations Code = 1270
	CodeCantAggregateNCollations Code = 1271
	CodeCollationCharsetMismatch Code = 1253
	CodeUnknownCollation         Code = 1273
	CodeNotUpdatable             Code = 1288
	CodeOptionPrevents           Code = 1290
	CodeDuplicatedValueInType    Code = 1291
	CodeTruncatedWrongValue      Code = 1292
	CodeUnknownFunction          Code = 1305
	CodeQueryInterrupted         Code = 1317
	CodeWrongObject              Code = 1347
	CodeViewColumnList           Code = 1353
	CodeViewInvalid              Code = 1356
	CodeNoDefaultForField        Code = 1364
	CodeDivisionByZero           Code = 1365
	CodeWrongValueForField       Code = 1366
	CodeDataTooLong              Code = 1406
	CodeWrongValueForType        Code = 1411
	CodeTooBigScale              Code = 1425
	CodeTooBigPrecision          Code = 1426
	CodeScaleAbovePrecision      Code = 1427
	CodeTooDeep                  Code = 1436
	CodeDatetimeOverflow         Code = 1441
	CodeWrongValue               Code = 1525
	CodeWrongParamCount          Code = 1582
	CodeWrongParamsNative        Code = 1583
	CodeDeprecated               Code = 1681
	CodeDataOutOfRange           Code = 1690
	CodePartitionClause          Code = 1747
	CodeReadOnlyTransaction      Code = 1792
	CodeInternal                 Code = 1815
	CodeTimeout                  Code = 3024
	CodeOrderNotInDistinct       Code = 3065
	CodeInvalidJSONText          Code = 3140
	CodeInvalidJSONTextInParam   Code = 3141
	CodeCapacityExceeded         Code = 3170
	CodeRecursiveCTE             Code = 3573
	CodeWindowFrameIllegal       Code = 3586
	CodeWindowDefinedTwice       Code = 3591
	CodeRecursionLimit           Code = 3636
)

var states = map[Code]string{
	CodeLockDeadlock:         "40001",
	CodeTransactionRunning:   "25001",
	CodeViewCheckFailed:      "44000",
	CodeWrongAutoKey:         "42000",
	CodeTooManyRows:          "42000",
	CodeNoData:               "02000",
	CodeCantRemoveAllFields:  "42000",
	CodeInvalidUseOfNull:     "22004",
	CodeKeyDoesNotExist:      "42000",
	CodeBadNull:              "23000",
	CodeUnknownDatabase:      "42000",
	CodeTableExists:          "42S01",
	CodeUnknownTable:         "42S02",
	CodeAmbiguousColumn:      "23000",
	CodeUnknownColumn:        "42S22",
	CodeNotGroupBy:           "42000",
	CodeWrongGroupField:      "42000",
	CodeIdentifierTooLong:    "42000",
	CodeDupFieldName:         "42S21",
	CodeDupKeyName:           "42000",
	CodeDupEntry:             "23000",
	CodeWrongFieldSpec:       "42000",
	CodeParseError:           "42000",
	CodeEmptyQuery:           "42000",
	CodeNonUniqTable:         "42000",
	CodeInvalidDefault:       "42000",
	CodeMultiplePrimaryKey:   "42000",
	CodeKeyColumnMissing:     "42000",
	CodeTooBigFieldLength:    "42000",
	CodeCantDropFieldOrKey:   "42000",
	CodeBlobCantHaveDefault:  "42000",
	CodeNoDatabaseSelected:   "3D000",
	CodeWrongTableName:       "42000",
	CodeUnknownTableIn:       "42S02",
	CodeFieldSpecifiedTwice:  "42000",
	CodeTableMustHaveColumns: "42000",
	CodeUnknownCharset:       "42000",
	CodeWrongValueCount:      "21S01",
	CodeRegexp:               "42000",
	CodeMixOfGroupFunc:       "42000",
	CodeNoSuchTable:          "42S02",
	CodePacketTooLarge:       "08S01",
	CodeWrongColumnName:      "42000",
	CodeWrongNumberOfColumns: "21000",
	CodeWrongValueForVar:     "42000",
	CodeWrongTypeForVar:      "42000",
	CodeNotSupported:         "42000",
	CodeOperandColumns:       "21000",
	CodeSubqueryNo1Row:       "21000",
	CodeIllegalReference:     "42S22",
	CodeDerivedMustHaveAlias: "42000",
	CodeRowTooFewFields:      "01000",
	CodeRowTooManyFields:     "01000",
	CodeOutOfRangeForColumn:  "22003",
	CodeDataTruncated:        "01000",
	CodeTruncatedWrongValue:  "22007",
	CodeUnknownFunction:      "42000",
	CodeQueryInterrupted:     "70100",
	CodeDivisionByZero:       "22012",
	CodeDataTooLong:          "22001",
	CodeTooBigScale:          "42000",
	CodeTooBigPrecision:      "42000",
	CodeScaleAbovePrecision:  "42000",
	CodeDatetimeOverflow:     "22008",
	CodeWrongParamCount:      "42000",
	CodeWrongParamsNative:    "42000",
	CodeDataOutOfRange:       "22003",
	CodeReadOnlyTransaction:  "25006",
	CodeInvalidJSONText:      "22032", CodeInvalidJSONTextInParam: "22032",
}
