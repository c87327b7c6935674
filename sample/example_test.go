package sample_test

import (
	"context"
	"fmt"

	"github.com/goldgen/goldgen/sample"
)

func ExampleDraw() {
	chunks := []sample.Info{
		{Row: 0, ChunkID: "billing/refunds.md#0", DocID: "billing/refunds.md", Category: "billing", TextDigest: "9f2c"},
		{Row: 1, ChunkID: "billing/refunds.md#1", DocID: "billing/refunds.md", Category: "billing", TextDigest: "04aa"},
		{Row: 2, ChunkID: "api/limits.md#0", DocID: "api/limits.md", Category: "api", TextDigest: "c71e"},
	}
	o := sample.Defaults()
	o.Cases, o.Mix = 3, map[string]float64{"factual": 1}
	plan, err := sample.Draw(context.Background(), sample.Input{Infos: stream(chunks)}, o)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range plan.Coverage.Strata {
		fmt.Printf("%s: %d of %d chunks\n", s.Name, s.Planned, s.Eligible)
	}
	// Output:
	// category=api: 1 of 1 chunks
	// category=billing: 2 of 2 chunks
}
