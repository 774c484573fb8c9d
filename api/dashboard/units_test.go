package dashboard

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	esbuild "github.com/evanw/esbuild/pkg/api"
)

// TestUnits runs the checks of testdata/units.ts.
func TestUnits(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "units.mjs")
	built := esbuild.Build(esbuild.BuildOptions{
		EntryPoints: []string{"testdata/units.ts"}, Outfile: file, Bundle: true, Write: true,
		Platform: esbuild.PlatformNode, Format: esbuild.FormatESModule, JSX: esbuild.JSXAutomatic,
		JSXImportSource: "preact",
	})
	if len(built.Errors) > 0 {
		t.Fatal(built.Errors[0].Text)
	}
	command := exec.CommandContext(t.Context(), "node", file)
	command.Env = append(os.Environ(), "TZ=UTC")
	if out, err := command.CombinedOutput(); err != nil || string(out) != "ok\n" {
		t.Errorf("%v: %s", err, out)
	}
}
