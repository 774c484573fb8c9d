// The reader's choices: range, comparison, people or agents, and filters.
import { useState } from 'preact/hooks'
import { comparisons, go, presets, state, whos, type Comparison, type Days, type Filter, type Preset } from './address'
import { overviewPanels, type Panel } from './panels'
import { Choice } from './parts'
import { pass, rangesOf } from './share'
import { texts } from './texts'

/**
 * Toolbar shows the choices that all views of a site have. A list of pages has no compared range (compared). The view
 * of agents has no choice between people and agents (whose).
 */
export function Toolbar({ compared = true, whose = true }: { compared?: boolean; whose?: boolean }) {
  const s = state.value
  const custom = typeof s.range !== 'string'
  const [open, show] = useState(custom)
  const chosen: Preset | 'custom' = open || typeof s.range !== 'string' ? 'custom' : s.range
  const choose = (range: Preset | 'custom') => {
    show(range === 'custom')
    if (range !== 'custom') go({ range })
  }
  return (
    <div class="toolbar">
      <Choice
        label={texts.range}
        value={chosen}
        choose={choose}
        options={[...presets, 'custom' as const].map((id) => [id, texts.ranges[id]] as const)}
      />
      {chosen === 'custom' && <DaysForm days={typeof s.range === 'string' ? undefined : s.range} />}
      {compared && !pass.value?.ranges.length && (
        <label class="compare">
          <span>{texts.compare}</span>
          <select value={s.compare} onChange={(e) => go({ compare: e.currentTarget.value as Comparison })}>
            {comparisons.map((id) => (
              <option key={id} value={id}>
                {texts.comparisons[id]}
              </option>
            ))}
          </select>
        </label>
      )}
      {whose && (
        <Choice
          label={texts.who}
          value={s.who}
          choose={(who) => go({ who })}
          options={whos.map((id) => [id, texts.whos[id]] as const)}
        />
      )}
      {pass.value && pass.value.ranges.length > 0 && (
        <p class="quiet ranges">{texts.onlyRanges(rangesOf(pass.value.ranges))}</p>
      )}
    </div>
  )
}

function DaysForm({ days }: { days: Days | undefined }) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const [a, b] = [String(form.get('from')), String(form.get('to'))]
    go({ range: a <= b ? { from: a, to: b } : { from: b, to: a } })
  }
  return (
    <form class="days" onSubmit={submit}>
      <label>
        {texts.from} <input type="date" name="from" required value={days?.from} />
      </label>
      <label>
        {texts.to} <input type="date" name="to" required value={days?.to} />
      </label>
      <button type="submit">{texts.apply}</button>
    </form>
  )
}

/** named returns the text of a filter. It names the value as the list of the filter's column does. */
function named(f: Filter, panels: Panel[]): string {
  const panel = [...panels, ...overviewPanels].find((p) => p.column === f.column)
  const value = panel ? panel.name(f.value) : (f.value ?? texts.blank)
  return `${panel?.label ?? f.column} ${f.not ? texts.isNot : texts.is} ${value}`
}

/** Chips shows the filters as buttons. The parameter panels has the panels of the view. */
export function Chips({ panels = [] }: { panels?: Panel[] }) {
  const { filters } = state.value
  if (filters.length === 0) return null
  const name = (f: Filter) => named(f, panels)
  const replace = (at: number, by: Filter[]) => go({ filters: filters.toSpliced(at, 1, ...by) })
  return (
    <div class="chips" role="group" aria-label={texts.filters}>
      {filters.map((f, i) => (
        <span key={name(f)} class={f.not ? 'chip not' : 'chip'}>
          <button
            type="button"
            title={texts.turnFilter(name(f))}
            aria-description={texts.turnFilter(name(f))}
            onClick={() => replace(i, [{ ...f, not: !f.not }])}
          >
            {name(f)}
          </button>
          <button type="button" aria-label={texts.removeFilter(name(f))} onClick={() => replace(i, [])}>
            ×
          </button>
        </span>
      ))}
      {filters.length > 1 && (
        <button type="button" class="plain" onClick={() => go({ filters: [] })}>
          {texts.clearFilters}
        </button>
      )}
    </div>
  )
}
