package markdown

import (
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// html writes a table in one line, as GitBook does, because a blank line in the table would end it.
func (v *tableView) html() string {
	var b strings.Builder
	b.WriteString(openTag("table", v.attributes()) + "<thead><tr>")
	for _, column := range v.columns {
		b.WriteString(openTag("th", v.columnAttributes(column)) + inlinesHTML(column.title) + optionsHTML(column) + "</th>")
	}
	b.WriteString("</tr></thead><tbody>")
	labels := content.OptionLabels{}
	for _, row := range v.rows {
		b.WriteString("<tr>")
		for i, cell := range row {
			b.WriteString(openTag("td", cellAttributes(v.columns[i], cell)))
			if kind, ok := columnKinds[v.columns[i].kind]; ok && cell.blocks == nil {
				b.WriteString(kind.write(labels, v.columns[i].about, cell.value))
			} else {
				b.WriteString(blocksHTML(cell.blocks))
			}
			b.WriteString("</td>")
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</tbody></table>")
	return strings.ReplaceAll(b.String(), "\n", "&#10;")
}

func (v *tableView) attributes() attributes {
	var attrs attributes
	if v.view["type"] == "cards" {
		if size := content.Member(v.view, "cardSize"); size != "medium" {
			attrs = attrs.set("data-card-size", size)
		}
		attrs = attrs.set("data-view", "cards")
	}
	attrs = attrs.setFlag("data-header-hidden", v.view["hideHeader"] == true)
	if full, ok := v.data["fullWidth"].(bool); ok {
		attrs = attrs.set("data-full-width", strconv.FormatBool(full))
	}
	return append(attrs, otherAttributes(stringMap(v.data[memberAttributes]), attrs)...)
}

func (v *tableView) columnAttributes(column tableColumn) attributes {
	var attrs attributes
	if width, ok := stringMap(v.view["columnWidths"])[column.id].(float64); ok {
		attrs = attrs.set("width", formatNumber(width))
	}
	if align := content.Member(column.about, "textAlignment"); align != "left" && column.kind == "text" {
		attrs = attrs.set("align", align)
	}
	attrs = attrs.set("valign", content.Member(column.about, "verticalAlignment")).setFlag("data-hidden", column.hidden)
	for _, role := range cardRoles {
		attrs = attrs.setFlag(role.name, v.view[role.member] == column.id)
	}
	if _, ok := columnKinds[column.kind]; ok && column.kind != "select" {
		attrs = attrs.set("data-type", column.kind)
	}
	attrs = attrs.setFlag("data-multiple", column.about["multiple"] == true && column.kind == "users")
	if limit, ok := column.about["max"].(float64); ok {
		attrs = attrs.set("data-max", formatNumber(limit))
	}
	return append(attrs, otherAttributes(stringMap(column.about[memberAttributes]), attrs)...)
}

func cellAttributes(column tableColumn, cell tableCell) attributes {
	var attrs attributes
	if align := content.Member(column.about, "textAlignment"); align != "left" && column.kind == "text" {
		attrs = attrs.set("align", align)
	}
	attrs = attrs.set("valign", content.Member(column.about, "verticalAlignment"))
	return attrs.set("data-object-fit", content.Member(stringMap(cell.value), "objectFit"))
}

func optionsHTML(column tableColumn) string {
	if column.kind != "select" {
		return ""
	}
	var b strings.Builder
	b.WriteString(openTag("select", attributes(nil).setFlag("multiple", column.about["multiple"] == true)))
	options, _ := column.about["options"].([]any)
	for _, option := range options {
		o := schema.Data(stringMap(option))
		b.WriteString(openTag("option", attributes{
			{name: "value", value: content.Member(o, "value")}, {name: "label", value: content.Member(o, "label")},
			{name: "color", value: content.Member(o, "color")},
		}) + "</option>")
	}
	return b.String() + "</select>"
}
