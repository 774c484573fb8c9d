package schema

// EventSettings are the settings of a site's insights.
type EventSettings struct {
	Object string `json:"object"`
	// RetentionDays is the number of days for which events are stored, counted from their own time. It is absent if
	// events are stored without an end.
	RetentionDays *int `json:"retentionDays,omitzero"`
	// Timezone is the time zone of queries without a time zone, by its name in the IANA database.
	Timezone string `json:"timezone"`
	// WeekStart is the first day of weeks in queries without such a day.
	WeekStart string `json:"weekStart"`
	// Hosts are additional hosts of the site, besides its own name and the hosts of its publishable keys. Visits from
	// them have no source.
	Hosts []string `json:"hosts"`
	// RespectGPC is the default of a new publishable key's respectGPC.
	RespectGPC bool `json:"respectGPC"`
}
