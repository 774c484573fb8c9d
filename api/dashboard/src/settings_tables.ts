// The table of the kinds of objects that a site's administrators manage. Each kind has its operation of the public API.
import { address } from './api'
import { clock, count, date } from './format'
import { rangesOf, type Pass } from './share'
import { texts } from './texts'
import { toolTexts } from './tool_texts'

const t = toolTexts.settings

/** Item is an object in a list. Its members depend on the kind of object. */
export type Item = { id: string } & Record<string, unknown>

export type Field = {
  name: string
  label: string
  kind: 'text' | 'password' | 'hosts' | 'days' | 'date' | 'range'
  required?: true
  /** value is the initial value of the field in the form that creates an object. */
  value?: string
}

export type Column = { label: string; show: (item: Item) => string }

export type Kept = {
  id: 'keys' | 'tokens' | 'share-links' | 'annotations'
  title: string
  about: string
  none: string
  /** name returns the title of a row. */
  name: (item: Item) => string
  columns: Column[]
  fields: Field[]
  /** query is the query string that is added to the request for the list. */
  query?: string
  /**
   * secret is the member that has the secret of a new object. The secret is shown once. made explains how to use it.
   */
  secret?: string
  made?: string
  /** shown returns the text in which the page shows a secret, for example a link. */
  shown?: (secret: string) => string
  /** deleting explains the effect of deleting an object. */
  deleting: string
}

const day = 86_400
const text = (value: unknown) => (typeof value === 'string' ? value : '')
const when = (value: unknown, otherwise: string) => (typeof value === 'string' ? date(value) : otherwise)

const created: Column = { label: t.created, show: (i) => when(i.createdAt, texts.none) }
const ends: Column = { label: t.ends, show: (i) => when(i.expiresAt, t.never) }
const name: Field = { name: 'name', label: t.name, kind: 'text', required: true }
const days: Field = { name: 'expiresIn', label: t.days, kind: 'days' }

export const keeps: Kept[] = [
  {
    id: 'keys',
    title: t.keys.title,
    about: t.keys.about,
    none: t.keys.none,
    name: (i) => text(i.name),
    columns: [
      { label: t.key, show: (i) => text(i.key) },
      { label: t.hosts, show: (i) => (i.hosts as string[]).join(', ') },
      { label: t.cap, show: (i) => (i.dailyCap ? count(Number(i.dailyCap)) : t.noCap) },
      created,
    ],
    fields: [name, { name: 'hosts', label: t.hostsOf, kind: 'hosts', required: true }],
    deleting: t.keys.deleting,
  },
  {
    id: 'share-links',
    title: t.shares.title,
    about: t.shares.about,
    none: t.shares.none,
    name: (i) => text(i.name),
    columns: [
      { label: t.password, show: (i) => (i.password ? t.yes : t.no) },
      {
        label: t.rangesOf,
        show: (i) => rangesOf((i.ranges ?? []) as Pass['ranges']) || t.all,
      },
      ends,
      created,
    ],
    fields: [
      name,
      { name: 'ranges', label: t.rangesOf, kind: 'range' },
      { name: 'password', label: t.password, kind: 'password' },
      days,
    ],
    secret: 'secret',
    made: t.shares.made,
    shown: (secret) => address('#share=' + secret),
    deleting: t.shares.deleting,
  },
  {
    id: 'tokens',
    title: t.tokens.title,
    about: t.tokens.about,
    none: t.tokens.none,
    name: (i) => text(i.name),
    columns: [{ label: t.used, show: (i) => (i.lastUsedAt ? clock(text(i.lastUsedAt)) : t.unused) }, ends, created],
    fields: [name, days],
    secret: 'token',
    made: t.tokens.made,
    deleting: t.tokens.deleting,
  },
  {
    id: 'annotations',
    title: t.annotations.title,
    about: t.annotations.about,
    none: t.annotations.none,
    name: (i) => text(i.text),
    columns: [
      { label: t.kind, show: (i) => texts.annotationKinds[i.kind as 'manual'] ?? text(i.kind) },
      { label: t.at, show: (i) => (i.date ? text(i.date) : when(i.at, texts.none)) },
    ],
    fields: [
      { name: 'text', label: t.text, kind: 'text', required: true },
      { name: 'date', label: t.day, kind: 'date' },
    ],
    deleting: t.annotations.deleting,
  },
]

/** body returns the body of the request from the values of a form. It leaves out empty fields. */
export function body(fields: Field[], values: FormData): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap(({ name, kind }): [string, unknown][] => {
      const value = String(values.get(name) ?? '').trim()
      if (value === '') return []
      if (kind === 'hosts') return [[name, hostsOf(value)]]
      if (kind === 'range') return [[name, [value]]]
      return [[name, kind === 'days' ? Math.round(Number(value) * day) : value]]
    }),
  )
}

/** hostsOf splits a text into hosts. Commas, spaces or line breaks separate them. */
export const hostsOf = (value: string) => value.split(/[\s,]+/).filter((host) => host !== '')
