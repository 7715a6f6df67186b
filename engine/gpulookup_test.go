package engine

import "testing"

// TestGPULookupsFollowSession changes what a session gives to expressions over a dictionary column, whose values by code are kept between queries: the date where
// the session is, which a TIME becomes a DATETIME of, on either side of a midnight that is not UTC's, and the mode of AES_ENCRYPT.
func TestGPULookupsFollowSession(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, `SET cte_max_recursion_depth = 5000; CREATE TABLE t AS WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 4999)
			SELECT ELT(n % 5 + 1, '10:20:30', '23:59:59', NULL, '10:20:31', '00:00:00') AS s FROM r`)
		mustRun(t, s, "SET time_zone = '+05:00'")
		for _, now := range []string{"1767290340", "1767293940", "1767297600"} { // 17:59, 18:59 and 20:00 UTC, of one day
			mustRun(t, s, "SET timestamp = "+now)
			sameOnGPU(t, s, "SELECT DISTINCT s, CAST(CAST(s AS TIME) AS DATETIME) FROM t ORDER BY s")
		}
		for _, mode := range []string{"aes-128-ecb", "aes-256-ecb"} {
			mustRun(t, s, "SET block_encryption_mode = '"+mode+"'")
			sameOnGPU(t, s, "SELECT DISTINCT s, HEX(AES_ENCRYPT(s, 'a key')) FROM t ORDER BY s")
		}
	})
}
