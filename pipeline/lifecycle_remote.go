package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/bucket"
)

// PushOptions say what is pushed where.
type PushOptions struct {
	Golden string // the version
	To     string // s3://bucket/prefix or a folder; "" is golden.remote
	Only   bool   // without the versions that it was made from
	Tags   []string
	If     string // where the tags must stand there: v3, or datasets.NoVersion; "" asks their past
	DryRun bool
}

// RemoteResult is what a push or a pull did.
type RemoteResult struct {
	Golden    datasets.Ref           `json:"golden"`
	Place     string                 `json:"place"`
	Changed   bool                   `json:"changed"`
	DryRun    bool                   `json:"dry_run"`
	Versions  []datasets.Transfer    `json:"versions"`
	Tags      []datasets.TagTransfer `json:"tags"`
	Unguarded bool                   `json:"unguarded"`
}

func (r *RemoteResult) settle() {
	for _, v := range r.Versions {
		r.Changed = r.Changed || !v.There
	}
	for _, t := range r.Tags {
		r.Changed = r.Changed || t.Changed
	}
}

// Push puts a version and what it was made from into a store or a folder that others
// can reach. Of a push that was ended the same one goes on.
func (p *Project) Push(ctx context.Context, o PushOptions) (*RemoteResult, error) {
	b, err := p.place(o.To)
	if err != nil {
		return nil, err
	}
	if folder, ok := projectFolder(cmp.Or(o.To, p.Path(p.Config.Golden.Remote))); ok {
		return nil, fmt.Errorf("%w: %s: %w; name a folder of its own", ErrConfig, folder, datasets.ErrProjectFolder)
	}
	believed, err := standsAt(o.If, o.Tags)
	if err != nil {
		return nil, err
	}
	ref, err := p.Store().Resolve(o.Golden)
	if err != nil {
		return nil, err
	}
	report, end := p.transferring("push")
	defer end()
	done, err := p.Store().Push(ctx, b, ref, datasets.PushOptions{
		Only: o.Only, Tags: o.Tags, If: believed, DryRun: o.DryRun, Report: report,
	})
	out := &RemoteResult{Golden: ref, Place: b.String(), DryRun: o.DryRun, Versions: done.Versions, Tags: done.Tags, Unguarded: done.Unguarded}
	out.settle()
	return out, remoteHint(err, "push")
}

// projectFolder reports whether a place is the folder golden beside a goldgen.yaml.
func projectFolder(place string) (string, bool) {
	if strings.Contains(place, "://") {
		return place, false
	}
	_, err := os.Stat(filepath.Join(filepath.Dir(filepath.Clean(place)), ConfigFile))
	return place, err == nil && filepath.Base(filepath.Clean(place)) == "golden"
}

// PullOptions say what is pulled from where.
type PullOptions struct {
	Golden string // as it is named there
	From   string // s3://bucket/prefix or a folder; "" is golden.remote
	To     string // a folder for sets of its own, beside the project's; "" is the project's
	Only   bool   // without the versions that it was made from
	Tags   []string
	If     string // where the tags must stand here: v3, or datasets.NoVersion; "" asks their past
}

// Pull fetches a version and what it was made from. Of a pull that was ended the same
// one goes on.
func (p *Project) Pull(ctx context.Context, o PullOptions) (*RemoteResult, error) {
	b, err := p.place(o.From)
	if err != nil {
		return nil, err
	}
	believed, err := standsAt(o.If, o.Tags)
	if err != nil {
		return nil, err
	}
	store := p.Store()
	if o.To != "" {
		store.Root = o.To
	}
	name, _, _ := strings.Cut(o.Golden, "@")
	if err := datasets.ValidateName(name); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	report, end := p.transferring("pull")
	defer end()
	done, err := store.Pull(ctx, b, o.Golden, datasets.PullOptions{
		Only: o.Only, Tags: o.Tags, If: believed, Partial: p.state("pulled", name), Report: report,
	})
	out := &RemoteResult{Golden: done.Golden, Place: b.String(), Versions: done.Versions, Tags: done.Tags}
	if err == nil {
		out.Golden.Path = filepath.Join(store.Root, name, fmt.Sprintf("v%04d", done.Golden.Version))
	}
	out.settle()
	return out, remoteHint(err, "pull")
}

// RemoteSets lists the sets of a store or folder; "" is golden.remote.
func (p *Project) RemoteSets(ctx context.Context, place string) ([]datasets.RemoteSet, error) {
	b, err := p.place(place)
	if err != nil {
		return nil, err
	}
	sets, err := datasets.ListRemote(ctx, b)
	return sets, remoteHint(err, "ls")
}

// place opens where sets are pushed to.
func (p *Project) place(address string) (*bucket.Bucket, error) {
	if address == "" {
		if address = p.Config.Golden.Remote; address == "" {
			return nil, hinted("name it, such as s3://team/golden or a folder, or set golden: {remote: ...} in goldgen.yaml", "%w: there is no place to push to or pull from", ErrConfig)
		}
		if !strings.Contains(address, "://") {
			address = p.Path(address)
		}
	}
	b, err := bucket.Open(address, p.Getenv)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return b, nil
}

// standsAt reads --if, which is about tags.
func standsAt(text string, tags []string) (*int, error) {
	switch {
	case text == "":
		return nil, nil
	case len(tags) == 0:
		return nil, fmt.Errorf("%w: --if says where a tag must stand: name it with --tag", ErrConfig)
	case text == datasets.NoVersion:
		return new(0), nil
	}
	n, err := strconv.Atoi(strings.TrimPrefix(text, "v"))
	if err != nil || n < 1 || !strings.HasPrefix(text, "v") {
		return nil, fmt.Errorf("%w: --if %q: want a version such as v3, or %s", ErrConfig, text, datasets.NoVersion)
	}
	return &n, nil
}

// transferring shows how a push or a pull goes on, version by version.
func (p *Project) transferring(stage string) (report func(datasets.Transfer), end func()) {
	p.Progress.Begin(stage, 0)
	return func(datasets.Transfer) { p.Progress.Step(Step{Done: 1}) }, p.Progress.End
}

// keysHint is for stores that refuse.
const keysHint = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, say who asks; look at what they may do with that bucket"

// remoteHint says what helps.
func remoteHint(err error, command string) error {
	hint := "run the same command again: what is there is not moved again"
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, datasets.ErrTagMoved) && command == "push":
		hint = "goldgen datasets pull with the same --tag takes over where it stands; --if says where you believe that it stands there"
	case errors.Is(err, datasets.ErrTagMoved):
		hint = "goldgen datasets tag moves it here; --if says where you believe that it stands here"
	case errors.Is(err, datasets.ErrDiverged) && command == "push":
		hint = "two have gone on apart: goldgen datasets pull --to FOLDER fetches theirs beside yours, goldgen datasets merge joins both as the next version"
	case errors.Is(err, datasets.ErrDiverged):
		hint = "two have gone on apart: --to FOLDER fetches theirs beside yours, goldgen datasets merge joins both as the next version"
	case errors.Is(err, datasets.ErrDamaged) && command == "push":
		hint = "goldgen datasets verify names all that differs; nothing of this version was sent"
	case errors.Is(err, datasets.ErrDamaged):
		hint = "nothing of it is in the project; who has the version whole can push it again once the damaged one is taken away there"
	case errors.Is(err, bucket.ErrRefused):
		hint = keysHint
	case errors.Is(err, bucket.ErrMissing):
		hint = "goldgen datasets ls --remote lists what is there; AWS_ENDPOINT_URL names another server than Amazon's"
	case isNetError(err):
		hint = "AWS_ENDPOINT_URL says which server is asked: see that it runs, then " + hint
	case isFileError(err):
		return err
	}
	return hinted(hint, "%w", err)
}

// isNetError reports whether a server could not be reached.
func isNetError(err error) bool {
	var op *net.OpError
	return errors.As(err, &op)
}

// isFileError reports whether a file of this machine is what failed: the disk has
// hints of its own.
func isFileError(err error) bool {
	var path *os.PathError
	return errors.As(err, &path)
}
