package schema

// EventSettings are the settings of a site's insights.
type EventSettings struct {
	Object string `json:"object"`
	// RetentionDays is the number of days for which events are stored, counted from the time of the event. It is absent
	// if events are never deleted because of their age.
	RetentionDays *int `json:"retentionDays,omitzero"`
	// Timezone is the time zone that a query uses if it does not set one. It is a name of the IANA database.
	Timezone string `json:"timezone"`
	// WeekStart is the first day of the week that a query uses if it does not set one.
	WeekStart string `json:"weekStart"`
	// Hosts are further hosts of the site. The host name of the site, and the hosts of its publishable keys, need not
	// be in this list. If a visit comes from one of the site's hosts, it has no source.
	Hosts []string `json:"hosts"`
	// RespectGPC is the value of respectGPC that a new publishable key gets by default.
	RespectGPC bool `json:"respectGPC"`
}
