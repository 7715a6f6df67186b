package tpch

import (
	"fmt"
	"strings"

	"github.com/radish-sql/radish/sql/types"
)

// Table describes one of the eight tables (clause 1.4). No column is nullable.
type Table struct {
	Name       string
	Columns    []ColumnDef
	PrimaryKey []string

	rows     int64                                              // at scale factor 1; of lineitem, its orders
	generate func(g *generator, first int64, rows int) []Column // makes a run of rows
}

// ColumnDef is a column's name and type.
type ColumnDef struct {
	Name string
	Type types.Type
}

// Tables returns the eight tables: a table stands behind those that its foreign keys refer to.
func Tables() []*Table {
	return []*Table{regionTable, nationTable, supplierTable, customerTable, partTable, partSuppTable, ordersTable, lineItemTable}
}

// tableByName finds a table.
func tableByName(name string) (*Table, error) {
	var known []string
	for _, t := range Tables() {
		if strings.EqualFold(t.Name, name) {
			return t, nil
		}
		known = append(known, t.Name)
	}
	return nil, fmt.Errorf("tpch: unknown table %q; the tables are %s", name, strings.Join(known, ", "))
}

var money = types.Decimal(15, 2)

var (
	regionTable = &Table{Name: "region", PrimaryKey: []string{"r_regionkey"}, rows: 5, generate: (*generator).region,
		Columns: []ColumnDef{
			{"r_regionkey", types.Int32}, {"r_name", types.Char(25)}, {"r_comment", types.Varchar(152)},
		}}
	nationTable = &Table{Name: "nation", PrimaryKey: []string{"n_nationkey"}, rows: 25, generate: (*generator).nation,
		Columns: []ColumnDef{
			{"n_nationkey", types.Int32}, {"n_name", types.Char(25)}, {"n_regionkey", types.Int32},
			{"n_comment", types.Varchar(152)},
		}}
	supplierTable = &Table{Name: "supplier", PrimaryKey: []string{"s_suppkey"}, rows: 10_000, generate: (*generator).supplier,
		Columns: []ColumnDef{
			{"s_suppkey", types.Int64}, {"s_name", types.Char(25)}, {"s_address", types.Varchar(40)},
			{"s_nationkey", types.Int32}, {"s_phone", types.Char(15)}, {"s_acctbal", money},
			{"s_comment", types.Varchar(101)},
		}}
	customerTable = &Table{Name: "customer", PrimaryKey: []string{"c_custkey"}, rows: 150_000, generate: (*generator).customer,
		Columns: []ColumnDef{
			{"c_custkey", types.Int64}, {"c_name", types.Varchar(25)}, {"c_address", types.Varchar(40)},
			{"c_nationkey", types.Int32}, {"c_phone", types.Char(15)}, {"c_acctbal", money},
			{"c_mktsegment", types.Char(10)}, {"c_comment", types.Varchar(117)},
		}}
	partTable = &Table{Name: "part", PrimaryKey: []string{"p_partkey"}, rows: 200_000, generate: (*generator).part,
		Columns: []ColumnDef{
			{"p_partkey", types.Int64}, {"p_name", types.Varchar(55)}, {"p_mfgr", types.Char(25)},
			{"p_brand", types.Char(10)}, {"p_type", types.Varchar(25)}, {"p_size", types.Int32},
			{"p_container", types.Char(10)}, {"p_retailprice", money}, {"p_comment", types.Varchar(23)},
		}}
	partSuppTable = &Table{Name: "partsupp", PrimaryKey: []string{"ps_partkey", "ps_suppkey"}, rows: 800_000,
		generate: (*generator).partSupp,
		Columns: []ColumnDef{
			{"ps_partkey", types.Int64}, {"ps_suppkey", types.Int64}, {"ps_availqty", types.Int32},
			{"ps_supplycost", money}, {"ps_comment", types.Varchar(199)},
		}}
	ordersTable = &Table{Name: "orders", PrimaryKey: []string{"o_orderkey"}, rows: 1_500_000, generate: (*generator).orders,
		Columns: []ColumnDef{
			{"o_orderkey", types.Int64}, {"o_custkey", types.Int64}, {"o_orderstatus", types.Char(1)},
			{"o_totalprice", money}, {"o_orderdate", types.Date}, {"o_orderpriority", types.Char(15)},
			{"o_clerk", types.Char(15)}, {"o_shippriority", types.Int32}, {"o_comment", types.Varchar(79)},
		}}
	lineItemTable = &Table{Name: "lineitem", PrimaryKey: []string{"l_orderkey", "l_linenumber"}, rows: 1_500_000,
		generate: (*generator).lineItem,
		Columns: []ColumnDef{
			{"l_orderkey", types.Int64}, {"l_partkey", types.Int64}, {"l_suppkey", types.Int64},
			{"l_linenumber", types.Int32}, {"l_quantity", money}, {"l_extendedprice", money},
			{"l_discount", money}, {"l_tax", money}, {"l_returnflag", types.Char(1)}, {"l_linestatus", types.Char(1)},
			{"l_shipdate", types.Date}, {"l_commitdate", types.Date}, {"l_receiptdate", types.Date},
			{"l_shipinstruct", types.Char(25)}, {"l_shipmode", types.Char(10)}, {"l_comment", types.Varchar(44)},
		}}
)
