package gitsync

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// safeName reports whether an entry's name is exactly one path element on every operating system. It applies the rules
// of Git's verify_path (https://github.com/git/git/blob/v2.45.1/read-cache.c). It also refuses control characters.
func safeName(name string) bool {
	if name == "" || name == "." || name == ".." || !utf8.ValidString(name) || strings.ContainsAny(name, `/\`) {
		return false
	}
	if strings.ContainsFunc(name, unicode.IsControl) {
		return false
	}
	return !isDotGit(name)
}

// isDotGit reports whether at least one file system treats a name as .git.
func isDotGit(name string) bool {
	// HFS+ ignores these characters in names.
	name = strings.ToLower(strings.Map(func(r rune) rune {
		switch {
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, name))
	// NTFS ignores everything after a colon, and spaces and dots at the end of a name. git~1 is the short name of .git.
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, " .")
	return name == ".git" || name == "git~1"
}

// SafePath reports whether a push with the default limits can write a file at a path.
func SafePath(path string) bool {
	_, ok := splitPath(path, DefaultLimits)
	return ok
}

// splitPath returns the elements of a path. The second result is false if a tree cannot contain a file at this path.
func splitPath(path string, limits Limits) ([]string, bool) {
	names := strings.Split(path, "/")
	if len(path) > limits.PathBytes || len(names) > limits.Depth {
		return nil, false
	}
	for _, name := range names {
		if !safeName(name) {
			return nil, false
		}
	}
	return names, true
}

// FoldName returns the same text for names or paths that file systems without case treat as equal.
func FoldName(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, name)
}

// isLFSPointer reports whether a file is a pointer of Git LFS:
// https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md.
func isLFSPointer(content []byte) bool {
	text := string(content)
	return len(text) <= maxLFSPointer && strings.HasPrefix(text, "version https://git-lfs.github.com/spec/") && strings.Contains(text, "\noid ")
}

const maxLFSPointer = 1024
