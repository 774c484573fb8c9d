package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/octavo-docs/octavo/schema"
)

// SettingsCmd lists the settings. deploy/SETTINGS.md is its output.
type SettingsCmd struct{}

// Run prints a Markdown table of the settings that octavo serve has.
func (SettingsCmd) Run(k *kong.Kong) error { return printSettings(os.Stdout, k.Model) }

// settingsLast puts the settings into a group of their own, so that the help of a command shows the command's own flags
// first. Most commands have all settings and a few flags.
func settingsLast(k *kong.Kong) error {
	settings := map[string]bool{}
	for _, flag := range serveFlags(k.Model) {
		settings[flag.Name] = len(flag.Envs) > 0
	}
	group := &kong.Group{Key: "settings", Title: "Settings, which also environment variables or --config may have:"}
	return kong.Visit(k.Model, func(at kong.Visitable, next kong.Next) error {
		if node, is := at.(*kong.Node); is {
			for _, flag := range node.Flags {
				if settings[flag.Name] {
					flag.Group = group
				}
			}
		}
		return next(nil)
	})
}

func serveFlags(model *kong.Application) []*kong.Flag {
	serve := slices.IndexFunc(model.Children, func(n *kong.Node) bool { return n.Name == "serve" })
	return model.Children[serve].Flags
}

func printSettings(w io.Writer, model *kong.Application) error {
	var b strings.Builder
	b.WriteString("| setting | default | unit | meaning |\n|---|---|---|---|\n")
	for _, flag := range serveFlags(model) {
		if len(flag.Envs) == 0 || flag.PlaceHolder == secretFilePlaceHolder {
			continue
		}
		meaning := flag.Help
		if flag.Tag.Has("secret") {
			meaning += " Secret: `" + flag.Envs[0] + "_FILE` may name a file that has it."
		}
		initial := flag.Default
		if initial != "" {
			initial = "`" + initial + "`"
		}
		meaning = strings.ReplaceAll(meaning, "|", `\|`)
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", flag.Envs[0], initial, unitOf(flag), meaning)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// unitOf returns the unit of a setting's values: the text of its tag `unit`, or the unit of its type.
func unitOf(flag *kong.Flag) string {
	if unit := flag.Tag.Get("unit"); unit != "" {
		return unit
	}
	switch t := flag.Target.Type(); {
	case t == reflect.TypeFor[schema.ByteSize]():
		return "bytes"
	case t == reflect.TypeFor[time.Duration]():
		return "duration"
	case t.Kind() == reflect.Slice:
		return "list"
	case t == reflect.TypeFor[slog.Level]():
		return "level"
	case flag.Target.CanInt() || flag.Target.CanUint():
		return "number"
	}
	return ""
}
