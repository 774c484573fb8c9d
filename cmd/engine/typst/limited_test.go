package typst

import (
	"os/exec"
	"testing"

	"github.com/octavo-docs/octavo/cmd/engine/packages"
)

// TestLimited checks that a function gets its full processor time, even on a busy machine.
func TestLimited(t *testing.T) {
	t.Parallel()
	found, err := packages.Find(packages.Config{})
	if err != nil {
		t.Fatal(err)
	}
	node, _, err := found.Typst()
	if err != nil {
		t.Fatal(err)
	}
	const calls = `
const sleep = (milliseconds) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
const outcome = (run, milliseconds) => { try { return limited(run, milliseconds); } catch (e) { return e.code ?? e.message; } };
console.log(outcome(() => "quick", 1000));
console.log(outcome(() => { sleep(300); return "waited"; }, 200));
console.log(outcome(() => { for (;;); }, 20));
console.log(outcome(() => { for (;;) sleep(1000); }, 5));
console.log(outcome(() => { throw new Error("wrong"); }, 1000));`
	output, err := exec.CommandContext(t.Context(), node, "--input-type=module", "-e", limited+calls).CombinedOutput()
	const want = "quick\nwaited\nERR_SCRIPT_EXECUTION_TIMEOUT\nERR_SCRIPT_EXECUTION_TIMEOUT\nwrong\n"
	if err != nil || string(output) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, output, want)
	}
}
