package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

// calibrateEffects measures the configured judge on forms of the set's passages.
func (a *app) calibrateEffects(ctx context.Context, p *pipeline.Project, o calibrateOptions) error {
	switch {
	case o.effects < 0:
		return usagef("--effects %d: want 1 or more", o.effects)
	case o.Labels != "" || o.sheet != "" || o.Apply:
		return usagef("--effects needs no labels: it goes with --golden and --json only")
	}
	measured, err := p.Effects(ctx, o.Golden, o.effects)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(measured)
	}
	a.say("cases", "%d of %s", measured.Cases, measured.Golden.Ref)
	for _, j := range measured.Judges {
		a.say("judge", "%s", j.Judge)
		fmt.Fprintln(a.stdout)
		if err := a.printEffects(j); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) printEffects(j pipeline.JudgeEffects) error {
	t := report.NewTable("passage", ">graded", ">unknown", ">cut", ">expected grade", ">2 or 3", "against", ">change", ">to 2 or 3", ">from 2 or 3")
	for _, e := range j.Effects {
		change, gained, lost := "", "", ""
		if e.Base != "" {
			gained, lost = strconv.Itoa(e.Gained), strconv.Itoa(e.Lost)
		}
		if e.Change != nil {
			change = fmt.Sprintf("%+.2f [%+.2f, %+.2f]", e.Change.Value, e.Change.Low, e.Change.High)
		}
		t.Add(e.Form, strconv.Itoa(e.Pairs), strconv.Itoa(e.Unknown), strconv.Itoa(e.Cut), fmt.Sprintf("%.2f", e.Expected),
			fmt.Sprintf("%.2f", e.Relevant), e.Base, change, gained, lost)
	}
	return a.section(t)
}
