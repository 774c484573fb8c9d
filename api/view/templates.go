package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// RequestTemplate returns the API form of a template for change requests.
func (v Presenter) RequestTemplate(row store.RequestTemplate) (schema.ChangeRequestTemplate, error) {
	template := schema.ChangeRequestTemplate{
		Object: "change-request-template", ID: row.ID, Title: row.Title, Pages: []schema.TemplatePage{}, CreatedAt: row.CreatedAt.UTC(),
		URLs: schema.LocationURLs{Location: v.API("spaces", row.SpaceID, "change-request-templates", row.ID)},
	}
	if row.Description != nil {
		description, err := schema.DecodeJSON[schema.Document](row.Description)
		if err != nil {
			return template, err
		}
		template.Description = &description
	}
	pages, err := store.PagesOf(row)
	for _, page := range pages {
		shown := schema.TemplatePage{
			Ref: page.Ref, Into: page.Into, Title: page.Title, Emoji: page.Emoji, Icon: page.Icon, Description: page.Description, Hidden: page.Hidden,
		}
		if page.Text != nil {
			shown.Document = &page.Text.Document
		}
		template.Pages = append(template.Pages, shown)
	}
	return template, err
}
