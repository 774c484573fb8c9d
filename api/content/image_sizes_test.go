package content_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
)

// TestImagesHaveDimensions reads revisions of a space and of a change request. Only the files that are images have
// dimensions.
func TestImagesHaveDimensions(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	var drawn bytes.Buffer
	if err := png.Encode(&drawn, image.NewPaletted(image.Rect(0, 0, 31, 17), color.Palette{color.Black})); err != nil {
		t.Fatal(err)
	}
	b.commit(map[string]string{
		"README.md": "# Home\n\n![](a.png) ![](b.svg) ![](broken.png) [c](c.txt)\n",
		"a.png":     drawn.String(), "b.svg": `<svg viewBox="0 0 640 360"/>`, "broken.png": "png", "c.txt": "words\n",
	})
	b.done("import", nil)
	want := map[string]*schema.Dimensions{
		"a.png": {Width: 31, Height: 17}, "b.svg": {Width: 640, Height: 360}, "broken.png": nil, "c.txt": nil,
	}
	space := "/v1/spaces/" + b.Ours.Space.ID
	request := apitest.Ask[schema.ChangeRequest](b.Harness, schema.RoleAdmin, "POST", space+"/change-requests",
		map[string]any{"subject": "s"}, 201)
	for _, of := range []string{space, space + "/change-requests/" + request.ID} {
		got := map[string]*schema.Dimensions{}
		revision := apitest.Ask[schema.Revision](b.Harness, schema.RoleAdmin, "GET", of+"/content", nil, 200)
		for _, file := range revision.Files {
			got[file.Name] = file.Dimensions
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", of, diff)
		}
	}
}
