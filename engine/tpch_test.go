package engine

import _ "github.com/radish-sql/radish/storage/tpch" // CALL tpch_generate
