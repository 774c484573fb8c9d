package main

import (
	"cmp"
	"os"
	"runtime"
	"runtime/debug"
)

// version is set by `make build` to the output of git describe.
var version string

// VersionCmd is `octavo version`.
type VersionCmd struct{}

// Run prints the build as JSON.
func (VersionCmd) Run() error { return printJSON(os.Stdout, buildInfo()) }

// build identifies a build of this program.
type build struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func buildInfo() build {
	return build{Version: buildVersion(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
}

// buildVersion returns the version that `make build` set. Binaries from `go install` have the module's version. The
// version of all other binaries is "unknown".
func buildVersion() string {
	module := ""
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "(devel)" {
		module = info.Main.Version
	}
	return cmp.Or(version, module, "unknown")
}
