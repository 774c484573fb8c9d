package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"

	esbuild "github.com/evanw/esbuild/pkg/api"

	"github.com/octavo-docs/octavo/bench/loadgen"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
)

// printOverview is a program that prints the batch of the dashboard's view Overview, as a browser without an address
// sends it for the last 24 hours.
const printOverview = `
Object.assign(globalThis, { location: { search: '', pathname: '/' }, addEventListener: () => {} })
const { read } = await import('./address')
const { queries } = await import('./queries')
console.log(JSON.stringify({ queries: queries({ ...read(''), zone: 'UTC', range: 'last24Hours' }) }))
`

// overviewBody returns the batch of the dashboard's view Overview. It runs the dashboard's own source, so the benchmark
// sends what browsers send.
func overviewBody(ctx context.Context) ([]byte, error) {
	root, err := enginetest.ModuleRoot()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "octavo-overview-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	program := filepath.Join(folder, "overview.mjs")
	built := esbuild.Build(esbuild.BuildOptions{
		Stdin: &esbuild.StdinOptions{
			Contents: printOverview, Loader: esbuild.LoaderTS,
			ResolveDir: filepath.Join(root, "api", "dashboard", "src"),
		},
		Outfile: program, Bundle: true, Write: true, Platform: esbuild.PlatformNode, Format: esbuild.FormatESModule,
	})
	if len(built.Errors) > 0 {
		return nil, errors.New(built.Errors[0].Text)
	}
	body, err := exec.CommandContext(ctx, "node", program).Output()
	if err != nil {
		return nil, fmt.Errorf("cannot run the dashboard's queries: %w", err)
	}
	return body, nil
}

// overview returns the only request of the view Overview.
func (b *bench) overview(ctx context.Context, s *querySize) ([][]byte, error) {
	body, err := overviewBody(ctx)
	if err != nil {
		return nil, err
	}
	path := target{org: s.Org, site: s.Sites[0]}.insights() + "/batch"
	return [][]byte{loadgen.Request(http.MethodPost, b.rig.Address, path, b.rig.Token, body)}, nil
}
