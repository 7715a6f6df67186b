package radish_test

import _ "github.com/radish-sql/radish/storage/tpch" // CALL tpch_generate
