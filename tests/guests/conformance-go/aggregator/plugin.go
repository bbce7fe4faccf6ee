// How many rows a group has, what they come to, and the longest text.
package main

import (
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/aggregator"
	"github.com/crisol/crisol/tests/guests/conformance-go/table"
)

type options struct {
	table.Asking
	SkipSingle bool `json:"skip_single,omitempty"`
}

type row struct {
	D18 crisol.Null[crisol.Decimal] `crisol:"d18,decimal(18,4)"`
	S   crisol.Null[string]         `crisol:"s"`
}

type sum struct {
	Rows    int64                       `crisol:"rows"`
	Total   crisol.Null[crisol.Decimal] `crisol:"total,decimal(38,4)"`
	Longest crisol.Null[string]         `crisol:"longest"`
}

func init() { aggregator.Serve(table.About, open) }

func main() {}

func open(asked options, _ crisol.Batch) (aggregator.New[row, sum], error) {
	if err := asked.Open(); err != nil {
		return nil, err
	}
	return func() aggregator.Group[row, sum] { return &group{asked: asked} }, nil
}

type group struct {
	asked options
	sum   sum
}

func (g *group) Add(row *row) error {
	g.sum.Rows++
	if total := &g.sum.Total; row.D18.Valid && total.Valid {
		total.Value = total.Value.Add(row.D18.Value)
	} else if row.D18.Valid {
		*total = row.D18
	}
	if longest := &g.sum.Longest; row.S.Valid && (!longest.Valid || len(row.S.Value) > len(longest.Value)) {
		*longest = row.S
	}
	return g.asked.Push()
}

func (g *group) Finish() (sum, bool, error) {
	return g.sum, !g.asked.SkipSingle || g.sum.Rows > 1, g.asked.Finish()
}
