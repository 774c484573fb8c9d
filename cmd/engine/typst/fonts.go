package typst

import "path/filepath"

// fontPackages has a row for each font family, with the faces that the layout uses. Each package includes the font's
// licence, the SIL Open Font License.
var fontPackages = []struct {
	name  string
	faces []string
}{
	{"noto-sans", []string{"400Regular", "400Regular_Italic", "700Bold", "700Bold_Italic"}},
	{"noto-sans-mono", []string{"400Regular", "700Bold"}},
	{"noto-sans-sc", []string{"400Regular", "700Bold"}},
	{"noto-sans-jp", []string{"400Regular", "700Bold"}},
	{"noto-sans-kr", []string{"400Regular", "700Bold"}},
	{"noto-sans-arabic", []string{"400Regular", "700Bold"}},
	{"noto-sans-hebrew", []string{"400Regular", "700Bold"}},
	{"noto-sans-devanagari", []string{"400Regular", "700Bold"}},
	{"noto-sans-thai", []string{"400Regular", "700Bold"}},
	{"noto-sans-symbols", []string{"400Regular"}},
	{"noto-sans-symbols-2", []string{"400Regular"}},
	{"noto-sans-math", []string{"400Regular"}},
	{"noto-emoji", []string{"400Regular"}},
}

// fonts lists the files of all faces.
func fonts(modules string) ([]string, error) {
	var files []string
	for _, family := range fontPackages {
		for _, face := range family.faces {
			found, err := filepath.Glob(filepath.Join(modules, "@expo-google-fonts", family.name, face, "*.ttf"))
			if err != nil {
				return nil, err
			}
			if len(found) == 0 {
				return nil, &Error{Message: "the font " + family.name + " is not installed: run `make engines`", kind: missing}
			}
			files = append(files, found...)
		}
	}
	return files, nil
}
