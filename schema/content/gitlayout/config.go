package gitlayout

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Repository is the repository whose files become pages. Files has the paths of its files. Read returns the bytes of a
// file.
type Repository struct {
	Files []File
	Read  func(path string) ([]byte, error)
	// Left has the entries of the repository that cannot be read as files. They are never written.
	Left []Left
	// Fold returns the same text for two paths that cannot both exist in the repository. If Fold is nil, paths that
	// differ only in case cannot both exist. Writable reports whether a file may be written at a path. If Writable is
	// nil, a file may be written at every path.
	Fold     func(path string) string
	Writable func(path string) bool
}

// File is a file of a repository.
type File struct {
	Path string
	// Blob is the hash of the content.
	Blob string
}

// Note describes a file or entry that was changed or left out. Its text is for users.
type Note struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// These are the names of files with a special meaning.
const (
	configName    = ".gitbook.yaml"
	summaryName   = "SUMMARY.md"
	readmeName    = "README.md"
	assetFolder   = ".gitbook/assets/"
	includeFolder = ".gitbook/includes/" // folder of reusable contents
	maxConfig     = 64 << 10
)

// These errors are about repositories that cannot be read as pages. Their texts are for users.
var (
	ErrProject  = errors.New("the project directory must be a folder inside the repository")
	ErrNoFolder = errors.New("the repository has no such folder")
	ErrConfig   = errors.New(configName + " cannot be read")
	ErrSummary  = errors.New("the table of contents cannot be read")
	ErrTooLarge = errors.New("the repository is too large for a space")
)

// Layout says where a repository contains the content of a space. It also has the repository's configuration.
type Layout struct {
	// Root is the folder of the content with a slash at its end, or "" if the content is the whole repository.
	Root string
	// Config, Readme and Summary are the paths of these files. They are set even if the files do not exist.
	Config, Readme, Summary string
	HasConfig, HasSummary   bool
	Notes                   []Note

	// redirects maps paths of the space to paths of files. The paths are spelled as in the configuration.
	redirects map[string]string

	repository Repository
	files      map[string]File
	folders    map[string]bool
	// `left` maps the path of each entry that cannot be read as a file to the reason. `folded` maps the folded path of
	// each entry and folder to its path.
	left, folded map[string]string
}

type config struct {
	Root      string `yaml:"root"`
	Structure struct {
		Readme  string `yaml:"readme"`
		Summary string `yaml:"summary"`
	} `yaml:"structure"`
	Redirects map[string]string `yaml:"redirects"`
}

// Open finds the content of a repository. `project` is the project directory; slashes at its ends do not matter. The
// folder may be missing if the repository has no files.
func Open(r Repository, project string) (*Layout, error) {
	l := &Layout{
		repository: r, files: make(map[string]File, len(r.Files)), folders: map[string]bool{"": true},
		left: map[string]string{}, folded: map[string]string{},
	}
	for _, file := range r.Files {
		l.files[file.Path] = file
		for dir := path.Dir(file.Path); dir != "." && !l.folders[dir+"/"]; dir = path.Dir(dir) {
			l.folders[dir+"/"] = true
		}
	}
	l.index()
	base, ok := folderOf("", project)
	if !ok {
		return nil, ErrProject
	}
	if err := l.needs(base); err != nil {
		return nil, err
	}
	var c config
	l.Config = base + configName
	if _, l.HasConfig = l.files[l.Config]; l.HasConfig {
		if err := l.configure(&c); err != nil {
			return nil, err
		}
	}
	if l.Root, ok = folderOf(base, c.Root); !ok {
		return nil, fmt.Errorf("%w: root is no folder inside the repository", ErrConfig)
	}
	if err := l.needs(l.Root); err != nil {
		return nil, err
	}
	l.Readme, l.Summary = l.named(c.Structure.Readme, readmeName), l.named(c.Structure.Summary, summaryName)
	if l.Readme == "" || l.Summary == "" {
		return nil, fmt.Errorf("%w: structure names a file outside of the repository", ErrConfig)
	}
	_, l.HasSummary = l.files[l.Summary]
	l.redirects = c.Redirects
	return l, nil
}

func (l *Layout) needs(folder string) error {
	if len(l.files) > 0 && !l.folders[folder] {
		return fmt.Errorf("%w: %s", ErrNoFolder, strings.TrimSuffix(folder, "/"))
	}
	return nil
}

func (l *Layout) configure(c *config) error {
	text, err := l.repository.Read(l.Config)
	if err != nil {
		return err
	}
	if len(text) > maxConfig {
		return fmt.Errorf("%w: it is too large", ErrConfig)
	}
	if err := yaml.Unmarshal(text, c); err != nil {
		return fmt.Errorf("%w: it is no YAML of the expected form", ErrConfig)
	}
	return nil
}

func (l *Layout) note(path, text string) { l.Notes = append(l.Notes, Note{path, text}) }

// folderOf returns a folder below another folder, with a slash at its end. The second result is false if the folder
// would be outside of the repository.
func folderOf(base, name string) (string, bool) {
	clean := path.Clean(base + strings.Trim(strings.TrimSpace(name), "/"))
	switch {
	case clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsAny(clean, "\\\x00"):
		return "", false
	case clean == "." || clean == "/":
		return "", true
	}
	return clean + "/", true
}

// named returns the path of a file that the configuration names, relative to the root. It returns "" if the file would
// be outside of the repository.
func (l *Layout) named(name, absent string) string {
	if name == "" {
		name = absent
	}
	folder, ok := folderOf(l.Root, name)
	if !ok || folder == "" {
		return ""
	}
	return strings.TrimSuffix(folder, "/")
}

// pageExtensions has the extensions of files that are pages. An .mdx file is read as Markdown, and its components are
// shown as text or left out.
var pageExtensions = []string{".md", ".markdown", mdxExtension}

const mdxExtension = ".mdx"

// isPage reports whether a file at this path can be a page.
func (l *Layout) isPage(name string) bool {
	if !strings.HasPrefix(name, l.Root) || name == l.Summary {
		return false
	}
	return slices.Contains(pageExtensions, strings.ToLower(path.Ext(name)))
}

// isReadme reports whether a file is the page of its folder.
func (l *Layout) isReadme(name string) bool {
	return name == l.Readme || strings.EqualFold(path.Base(name), readmeName)
}

// readmeOf finds the page of a folder. The folder's path must end with a slash.
func (l *Layout) readmeOf(folder string) (string, bool) {
	for _, name := range []string{readmeName, "readme.md", "Readme.md"} {
		if l.has(folder + name) {
			return folder + name, true
		}
	}
	return "", false
}
