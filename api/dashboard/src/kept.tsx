// A list of objects of one kind that administrators manage. Each row can be deleted, and a form creates another object.
import { useState } from 'preact/hooks'
import { presets, state } from './address'
import { call, insights } from './api'
import { Command, Dialog } from './parts'
import { RowsTable, type Cell } from './rows_table'
import { reasonOf, type List } from './settings'
import { body, type Field, type Item, type Kept } from './settings_tables'
import { texts } from './texts'
import { toolTexts } from './tool_texts'

const t = toolTexts.settings

export function KeptCard({ kept, list, again }: { kept: Kept; list: List | undefined; again: () => void }) {
  const { org, site } = state.value
  const at = `${insights(org, site)}/${kept.id}`
  const [made, show] = useState('')
  const [fault, say] = useState('')
  const [doomed, ask] = useState<Item | undefined>(undefined)
  const items = list && 'items' in list ? list.items : []
  const make = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    try {
      const answer = await call<Record<string, unknown>>(at, {
        method: 'POST',
        body: body(kept.fields, new FormData(form)),
      })
      const secret = kept.secret ? String(answer[kept.secret]) : ''
      show(secret && kept.shown ? kept.shown(secret) : secret)
      say('')
      form.reset()
      again()
    } catch (refusal) {
      say(reasonOf(refusal))
    }
  }
  const remove = async () => {
    try {
      await call(`${at}/${encodeURIComponent(doomed?.id ?? '')}`, { method: 'DELETE' })
      say('')
      again()
    } catch (refusal) {
      say(reasonOf(refusal))
    }
    ask(undefined)
  }
  const cells: [Cell<Item>, ...Cell<Item>[]] = [
    { id: 'name', label: kept.fields[0]?.label ?? t.name, show: (item) => kept.name(item) },
    ...kept.columns.map((c): Cell<Item> => ({ id: c.label, label: c.label, show: c.show })),
    {
      id: 'delete',
      label: '',
      show: (item) => (
        <button type="button" class="small" aria-label={t.removeOf(kept.name(item))} onClick={() => ask(item)}>
          {t.remove}
        </button>
      ),
    },
  ]
  return (
    <section class="card list kept" aria-labelledby={'kept-' + kept.id} data-panel={kept.id}>
      <h2 id={'kept-' + kept.id}>{kept.title}</h2>
      <p class="quiet">{kept.about}</p>
      {list && 'refused' in list ? (
        <p class="quiet none">{list.refused}</p>
      ) : (
        <>
          {items.length > 0 ? (
            <RowsTable cells={cells} rows={items} keyOf={(item) => item.id} />
          ) : (
            <p class="quiet none">{kept.none}</p>
          )}
          {list?.more && <p class="quiet more">{t.newest}</p>}
          <form onSubmit={(e) => void make(e)} aria-label={t.newOf(kept.title)}>
            {kept.fields.map((field) => (
              <FieldOf key={field.name} field={field} />
            ))}
            <button type="submit">{t.make}</button>
          </form>
        </>
      )}
      <p class="wrong" role="alert">
        {fault}
      </p>
      <div role="status" class="live made">
        {made && (
          <>
            <p>{kept.made}</p>
            <Command text={made} />
          </>
        )}
      </div>
      <Dialog
        title={doomed ? t.removeOf(kept.name(doomed)) : ''}
        open={doomed !== undefined}
        close={() => ask(undefined)}
      >
        <p>{kept.deleting}</p>
        <button type="button" class="main" onClick={() => void remove()}>
          {t.remove}
        </button>
      </Dialog>
    </section>
  )
}

function FieldOf({ field: { name, label, kind, required } }: { field: Field }) {
  return (
    <label>
      {label}
      {kind === 'days' ? (
        <input type="number" name={name} min={1} max={3650} />
      ) : kind === 'password' ? (
        <input name={name} autocomplete="off" minLength={8} />
      ) : kind === 'date' ? (
        <input type="date" name={name} />
      ) : kind === 'range' ? (
        <select name={name}>
          <option value="">{t.all}</option>
          {presets.map((id) => (
            <option key={id} value={id}>
              {texts.ranges[id]}
            </option>
          ))}
        </select>
      ) : (
        <input name={name} required={Boolean(required)} />
      )}
    </label>
  )
}
