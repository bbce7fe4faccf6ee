// Every second row of a group.
package main

import (
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/ranker"
	"github.com/crisol/crisol/tests/guests/conformance-go/table"
)

type row struct {
	S   crisol.Null[string] `crisol:"s"`
	I32 crisol.Null[int32]  `crisol:"i32"`
}

type place struct {
	Place int32               `crisol:"place"`
	Said  crisol.Null[string] `crisol:"said"`
}

func init() { ranker.Serve(table.About, open) }

func main() {}

func open(asked table.Asking, _ crisol.Batch) (ranker.Rank[row, place], error) {
	if err := asked.Open(); err != nil {
		return nil, err
	}
	return func(group []row, keep func(int, place)) error {
		if err := asked.Push(); err != nil {
			return err
		}
		for at := 0; at < len(group); at += 2 {
			keep(at, place{int32(at/2 + 1), group[at].S})
		}
		return asked.Finish()
	}, nil
}
