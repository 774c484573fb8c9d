// Command licences prints the licence of every module and npm package in Octavo's binaries and tests. It fails if a
// licence is not allowed.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	classifier "github.com/google/licenseclassifier/v2"
	"github.com/google/licenseclassifier/v2/assets"
)

// allowed are the licences of code that a published binary may contain together with Octavo's code (Apache-2.0).
var allowed = []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0", "MPL-2.0", "Unlicense"}

// allowedFonts has the licences of font files that may be distributed with a binary. The fonts are not part of the
// binary.
var allowedFonts = []string{"OFL-1.1"}

// byHand has the licences that a person has read, because no program recognizes their texts.
var byHand = map[string]string{
	"github.com/segmentio/asm": "MIT-0", // the licence is newer than the classifier
	// These packages name no licence. Their repository, GitbookIO/integrations, has Apache-2.0. Tests fetch and run the
	// packages, but Octavo does not distribute them.
	"@gitbook/api":     "Apache-2.0",
	"@gitbook/cli":     "Apache-2.0",
	"@gitbook/runtime": "Apache-2.0",
}

// fileNames are the names of files that may contain a licence.
var fileNames = []string{"LICENSE*", "LICENCE*", "COPYING*", "License*", "license*"}

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

// run checks the Go module in the working directory and the npm lock files.
func run(out io.Writer, locks []string) error {
	if len(locks) == 0 {
		return errors.New("usage: licences package-lock.json...")
	}
	modules, err := goModules()
	if err != nil {
		return err
	}
	for _, lock := range locks {
		packages, err := npmPackages(lock)
		if err != nil {
			return err
		}
		modules = append(modules, packages...)
	}
	var problems []error
	for _, m := range modules {
		if read := byHand[m.name]; read != "" && len(m.licences) == 0 {
			m.licences = []string{read}
		}
		fmt.Fprintf(out, "%-60s %s\n", m.name, strings.Join(m.licences, ", "))
		if len(m.licences) == 0 {
			problems = append(problems, fmt.Errorf("%s has no licence that is known", m.name))
		}
		for _, licence := range m.licences {
			if !slices.Contains(allowed, licence) && !slices.Contains(allowedFonts, licence) {
				problems = append(problems, fmt.Errorf("%s: %s is not allowed", m.name, licence))
			}
		}
	}
	fmt.Fprintf(out, "%d modules and packages\n", len(modules))
	return errors.Join(problems...)
}

// module is a Go module or an npm package.
type module struct {
	name     string
	licences []string
}

// goModules returns the modules whose packages are compiled into a binary or a test.
func goModules() ([]module, error) {
	const format = `{{with .Module}}{{if not .Main}}{{.Path}}{{"\t"}}{{.Dir}}{{end}}{{end}}`
	list := exec.Command("go", "list", "-deps", "-test", "-f", format, "./...")
	list.Stderr = os.Stderr
	text, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("cannot list the modules: %w", err)
	}
	known, err := assets.DefaultClassifier()
	if err != nil {
		return nil, fmt.Errorf("cannot load the known licences: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	slices.Sort(lines)
	var modules []module
	for _, line := range slices.Compact(lines) {
		if line == "" {
			continue
		}
		path, dir, _ := strings.Cut(line, "\t")
		licences, err := licencesIn(known, dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		modules = append(modules, module{path, licences})
	}
	return modules, nil
}

// licencesIn returns the names of the licences in a module's root.
func licencesIn(known *classifier.Classifier, dir string) ([]string, error) {
	var licences []string
	for _, name := range fileNames {
		files, err := filepath.Glob(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if info, err := os.Stat(file); err != nil || info.IsDir() {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			for _, match := range known.Match(text).Matches {
				if match.MatchType == "License" {
					licences = append(licences, match.Name)
				}
			}
		}
	}
	slices.Sort(licences)
	return slices.Compact(licences), nil
}

// npmPackages returns the packages in a lock file, with the licences that the file names.
func npmPackages(path string) ([]module, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct{ Name, License string }
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var modules []module
	for name, p := range lock.Packages {
		if name == "" { // the entry of the folder's own package
			continue
		}
		// If a package is installed under an alias, the name in its entry is its real name.
		m := module{name: cmp.Or(p.Name, strings.TrimPrefix(name, "node_modules/"))}
		if p.License != "" {
			m.licences = strings.Split(p.License, " AND ")
		}
		modules = append(modules, m)
	}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.name, b.name) })
	return modules, nil
}
