package schema

// EventSettings are the settings of a site's insights.
type EventSettings struct {
	Object string `json:"object"`
	// RetentionDays is the number of days for which events are stored, counted from the time of each event. It is
	// absent if the site never deletes events because of their age.
	RetentionDays *int `json:"retentionDays,omitzero"`
	// Timezone is the time zone of queries that do not define one, as a name of the IANA database.
	Timezone string `json:"timezone"`
	// WeekStart is the first day of the week, for queries that do not define it.
	WeekStart string `json:"weekStart"`
	// Hosts are additional hosts of the site, besides its own name and the hosts of its publishable keys. A visit that
	// comes from one of these hosts has no source.
	Hosts []string `json:"hosts"`
	// RespectGPC is the default of a new publishable key's respectGPC.
	RespectGPC bool `json:"respectGPC"`
}
