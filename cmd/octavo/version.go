package main

import (
	"cmp"
	"encoding/json"
	"os"
	"runtime"
	"runtime/debug"
)

// version is set by `make build` to what git describes.
var version string

// VersionCmd says which build this is.
type VersionCmd struct{}

// Run prints it as JSON.
func (VersionCmd) Run() error { return json.NewEncoder(os.Stdout).Encode(buildInfo()) }

// build is what tells one build from another.
type build struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func buildInfo() build {
	return build{Version: buildVersion(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
}

// buildVersion is what `make build` set, else the module's version for who
// installed it by go install, else unknown.
func buildVersion() string {
	module := ""
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "(devel)" {
		module = info.Main.Version
	}
	return cmp.Or(version, module, "unknown")
}
