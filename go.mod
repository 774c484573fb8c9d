module github.com/octavo-docs/octavo

go 1.26.8

require (
	github.com/ClickHouse/ch-go v0.74.0 // the embedded ClickHouse speaks its protocol with it
	github.com/ClickHouse/clickhouse-go/v2 v2.50.0
	github.com/alecthomas/kong v1.17.0
	github.com/andybalholm/brotli v1.2.8 // request bodies in br
	github.com/beevik/etree v1.8.1
	github.com/blevesearch/snowballstem v0.9.0 // words of conversations by their stems
	github.com/bytedance/sonic v1.15.5 // make bench: the fastest decoder is the ceiling of the intake
	github.com/cespare/xxhash/v2 v2.3.0
	github.com/chromedp/cdproto v0.159.0 // tests: the words of chromedp
	github.com/chromedp/chromedp v0.23.0 // tests: a browser
	github.com/crewjam/saml v0.5.1
	github.com/dchest/siphash v1.2.3 // keyed hashes of visitors; the standard library has none that stay the same
	github.com/dop251/goja v0.0.0-20260917113740-793a2a65c13b // its parser reads adaptive conditions
	github.com/ebitengine/purego v0.11.3 // calls the library of the embedded ClickHouse
	github.com/emersion/go-sasl v0.0.0-20241020182733-b788ff22d5a6 // tests: the login of go-smtp
	github.com/emersion/go-smtp v0.25.1 // tests: a mail server that is not ours
	github.com/evanw/esbuild v0.28.2 // cmd/gen bundles the tracker
	github.com/fasthttp/router v1.5.4 // finds the operation of a path, among all of them
	github.com/getkin/kin-openapi v0.152.0 // tests: judges OpenAPI documents, ours and customers'
	github.com/go-faster/city v1.0.1 // ClickHouse's checksum of blocks
	github.com/go-git/go-git/v5 v5.19.3
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3
	github.com/golang-jwt/jwt/v5 v5.3.1
	github.com/google/go-cmp v0.7.0
	github.com/google/uuid v1.6.0 // ids that increase within a process
	github.com/hashicorp/golang-lru/v2 v2.0.7
	github.com/jackc/pgx/v5 v5.12.0
	github.com/jackc/puddle/v2 v2.2.3 // the error of a closed pool, which pgx passes on
	github.com/klauspost/compress v1.20.3
	github.com/kyokomi/emoji/v2 v2.2.14 // the names of emoji in Markdown
	github.com/ledongthuc/pdf v0.0.0-20260907135840-6c8c28e0e8a0 // tests: reads PDFs
	github.com/mattermost/xml-roundtrip-validator v0.1.0 // SAML: refuses XML that two parsers would read differently
	github.com/mileusna/useragent v1.3.5 // browsers and devices of visitors
	github.com/oschwald/maxminddb-golang/v2 v2.9.0 // places of visitors
	github.com/pierrec/lz4/v4 v4.1.33 // ClickHouse's compression of blocks
	github.com/pressly/goose/v3 v3.29.0 // runs the migrations
	github.com/prometheus/client_golang v1.25.0
	github.com/prometheus/common v0.72.0
	github.com/riverqueue/river v0.51.1
	github.com/riverqueue/river/riverdriver/riverpgxv5 v0.51.1 // river on pgx
	github.com/riverqueue/river/rivertype v0.51.1 // the words of river
	github.com/russellhaering/goxmldsig v1.6.1 // the signatures of SAML
	github.com/segmentio/kafka-go v0.4.51
	github.com/twmb/franz-go/pkg/kmsg v1.15.0
	github.com/valyala/fasthttp v1.74.0
	github.com/wneessen/go-mail v0.8.1 // writes and sends mails
	github.com/xdg-go/scram v1.1.2 // the login of the embedded broker
	github.com/yuin/goldmark v1.8.7
	go.yaml.in/yaml/v3 v3.0.5
	golang.org/x/crypto v0.58.0
	golang.org/x/image v0.47.0 // WebP, and pictures that are too large for a PDF
	golang.org/x/net v0.61.0
	golang.org/x/sync v0.24.0
	golang.org/x/sys v0.49.0
	golang.org/x/text v0.43.0
	gonum.org/v1/gonum v0.17.0 // dot products of meanings
	pgregory.net/rapid v1.3.0
)

require (
	cel.dev/cel-go v0.33.2 // the expressions of merge rules
	cel.dev/expr v0.25.1 // indirect
	github.com/ProtonMail/go-crypto v1.1.6 // indirect
	github.com/antlr4-go/antlr/v4 v4.13.1 // indirect
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/bytedance/gopkg v0.1.3 // indirect
	github.com/bytedance/sonic/loader v0.5.3 // indirect
	github.com/cloudflare/circl v1.6.3 // indirect
	github.com/cloudwego/base64x v0.1.6 // indirect
	github.com/cyphar/filepath-securejoin v0.6.1 // indirect
	github.com/emirpasic/gods v1.18.1 // indirect
	github.com/go-faster/errors v0.8.0 // indirect
	github.com/go-git/gcfg v1.5.1-0.20230307220236-3a3c6141e376 // indirect
	github.com/go-git/go-billy/v5 v5.9.2 // indirect
	github.com/go-openapi/jsonpointer v0.22.5 // indirect
	github.com/go-openapi/swag/jsonname v0.25.5 // indirect
	github.com/go-sourcemap/sourcemap v2.1.3+incompatible // indirect
	github.com/golang/groupcache v0.0.0-20241129210726-2c02b8208cf8 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jbenet/go-context v0.0.0-20150711004518-d14ea06fba99 // indirect
	github.com/jonboulle/clockwork v0.5.0 // indirect
	github.com/klauspost/cpuid/v2 v2.2.9 // indirect
	github.com/kylelemons/godebug v1.1.0 // indirect
	github.com/mfridman/interpolate v0.0.2 // indirect
	github.com/molecule-man/go-brrr v1.0.1 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/oasdiff/yaml v0.1.1 // indirect
	github.com/oasdiff/yaml3 v0.0.14 // indirect
	github.com/paulmach/orb v0.13.0 // indirect
	github.com/pjbgf/sha1cd v0.7.0 // indirect
	github.com/prometheus/client_model v0.6.3 // indirect
	github.com/prometheus/procfs v0.22.0 // indirect
	github.com/riverqueue/river/riverdriver v0.51.1 // indirect
	github.com/riverqueue/river/rivershared v0.51.1 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	github.com/savsgio/gotils v0.0.0-20240704082632-aef3928b8a38 // indirect
	github.com/segmentio/asm v1.2.1 // indirect
	github.com/sergi/go-diff v1.3.2-0.20230802210424-5b0b94c5c0d3 // indirect
	github.com/sethvargo/go-retry v0.5.0 // indirect
	github.com/shopspring/decimal v1.5.0 // indirect
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.2.0 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	github.com/twitchyliquid64/golang-asm v0.15.1 // indirect
	github.com/valyala/bytebufferpool v1.0.0 // indirect
	github.com/xdg-go/pbkdf2 v1.0.0 // indirect
	github.com/xdg-go/stringprep v1.0.4 // indirect
	go.opentelemetry.io/otel v1.47.0 // indirect
	go.opentelemetry.io/otel/trace v1.47.0 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	golang.org/x/arch v0.0.0-20210923205945-b76863e36670 // indirect
	golang.org/x/exp v0.0.0-20261011100332-faecfb24eb49 // indirect
	google.golang.org/genproto/googleapis/api v0.0.0-20261005182115-fad411399dd8 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20261005182115-fad411399dd8 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
	gopkg.in/warnings.v0 v0.1.2 // indirect
)

require github.com/dustin/go-humanize v1.1.0
