package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

// remoteUsage is what push and pull say alike of places.
const remoteUsage = "PLACE is s3://bucket/prefix in any store that speaks S3, or a folder; without it golden.remote of\n" +
	"goldgen.yaml. AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_PROFILE are read as by\n" +
	"other programs."

func newDatasetsPush(a *app) *cobra.Command {
	var o pipeline.PushOptions
	cmd := &cobra.Command{
		Use: "push REF [PLACE]", Short: "Put a version where others can pull it",
		Long: help("Puts a version, and the versions that it was made from, into a store or a folder. What is there is not sent\n"+
			"again, so a push that was ended goes on; a version is seen there only when it is whole. With --tag a tag is moved\n"+
			"there to where it stands here, if its past here knows where it stands there, or --if does.\n\n"+remoteUsage,
			codeDone, "1 could not run, the version's number is another's there, or a tag stands elsewhere", codeUsage),
		Example: "  goldgen -C examples/quickstart datasets push handbook ../golden-of-the-team\n" +
			"  goldgen -C examples/quickstart datasets push handbook s3://team/golden --tag prod",
		Args: usageArgs(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			if o.Golden = args[0]; len(args) == 2 {
				o.To = args[1]
			}
			done, err := p.Push(cmd.Context(), o)
			return a.moved(done, err, "pushed")
		},
	}
	addMoves(cmd, &o.Only, &o.Tags, &o.If, "there")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "say what would be sent")
	a.jsonFlag(cmd)
	return cmd
}

func newDatasetsPull(a *app) *cobra.Command {
	var o pipeline.PullOptions
	cmd := &cobra.Command{
		Use: "pull REF [PLACE]", Short: "Fetch a version that somebody pushed",
		Long: help("Fetches a version, and the versions that it was made from, out of a store or a folder. Every file is held\n"+
			"against its digest before anything of a version is seen here; what was fetched is not fetched again. The corpus does\n"+
			"not come along: make its snapshot here, or rebase the set.\n\n"+remoteUsage,
			codeDone, "1 could not run, what is there is damaged, the version's number is another's here, or a tag stands elsewhere", codeUsage),
		Example: "  goldgen -C examples/quickstart datasets pull handbook ../golden-of-the-team\n" +
			"  goldgen -C examples/quickstart datasets pull handbook@prod s3://team/golden --tag prod",
		Args: usageArgs(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			if o.Golden = args[0]; len(args) == 2 {
				o.From = args[1]
			}
			done, err := p.Pull(cmd.Context(), o)
			return a.moved(done, err, "pulled")
		},
	}
	addMoves(cmd, &o.Only, &o.Tags, &o.If, "here")
	cmd.Flags().StringVar(&o.To, "to", "", "a folder for the set, beside the project's own (default: golden)")
	a.jsonFlag(cmd)
	return cmd
}

// addMoves adds what push and pull have in common.
func addMoves(cmd *cobra.Command, only *bool, tags *[]string, believed *string, where string) {
	f := cmd.Flags()
	f.BoolVar(only, "only", false, "without the versions that it was made from")
	f.StringSliceVar(tags, "tag", nil, "move this tag "+where+" too; can be repeated")
	f.StringVar(believed, "if", "", "move it only if it stands "+where+" at this version (v3), or none")
}

// moved reports what a push or a pull did, also one that was ended in between.
func (a *app) moved(done *pipeline.RemoteResult, err error, verb string) error {
	if err != nil {
		return err
	}
	if done.Unguarded {
		fmt.Fprintf(a.stderr, "goldgen: warning: %s takes no notice of conditions: of two who push at once, the second may win without being told\n", report.Escape(done.Place))
	}
	if a.json {
		return a.printJSON(done)
	}
	if done.DryRun {
		verb = "would be " + verb
	}
	t := report.Table{Columns: []report.Column{{Name: "version"}, {Name: "what"}, {Name: "files", Right: true}, {Name: "bytes", Right: true}}}
	for _, v := range done.Versions {
		if v.There {
			t.Add(v.Ref.String(), "was there")
			continue
		}
		what := verb
		if v.Kept > 0 {
			what += fmt.Sprintf(" (%s of it lay there)", wording.Count(v.Kept, "file"))
		}
		t.Add(v.Ref.String(), what, fmt.Sprint(v.Files), fmt.Sprint(v.Bytes))
	}
	for _, tag := range done.Tags {
		t.Add(done.Golden.Name+"@"+tag.Name, tagMoveWords(tag))
	}
	return t.Write(a.stdout, a.style())
}

func tagMoveWords(t datasets.TagTransfer) string {
	switch {
	case !t.Changed:
		return "stood at " + versionWord(t.Version)
	case t.Version == 0:
		return "was taken away from " + versionWord(t.From)
	}
	return "moved from " + versionWord(t.From) + " to " + versionWord(t.Version)
}

// listRemote lists the sets of a place.
func (a *app) listRemote(ctx context.Context, p *pipeline.Project, place string) error {
	sets, err := p.RemoteSets(ctx, place)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(orEmpty(sets))
	}
	t := report.Table{Columns: []report.Column{
		{Name: "set"}, {Name: "versions", Max: 40}, {Name: "active", Right: true}, {Name: "trust"}, {Name: "made"}, {Name: "digest"}, {Name: "tags"},
	}}
	for _, s := range sets {
		versions := make([]string, len(s.Versions))
		for i, v := range s.Versions {
			versions[i] = versionWord(v)
		}
		if s.Problem != "" {
			t.Add(s.Name, strings.Join(versions, ", "), "", "unreadable: "+s.Problem)
			continue
		}
		t.Add(s.Newest.Ref().String(), strings.Join(versions, ", "), fmt.Sprint(s.Newest.Counts.Active), trustWords(s.Newest.Trust),
			s.Newest.CreatedAt, report.ShortDigest(s.Newest.Digest), tagsWords(s.Tags))
	}
	return t.Write(a.stdout, a.style())
}
