// A small line chart without axes.
import { path } from './scale'

export function Spark({ values, label }: { values: number[]; label: string }) {
  const [wide, high] = [120, 28]
  const most = Math.max(1, ...values)
  const at = values.map(
    (v, i) => [(i * wide) / Math.max(1, values.length - 1), high - 2 - (v / most) * (high - 4)] as const,
  )
  return (
    <svg class="spark" viewBox={`0 0 ${wide} ${high}`} role="img" aria-label={label} preserveAspectRatio="none">
      {at.length > 1 && <path class="area" d={path(at) + `V${high}H0Z`} />}
      {at.length > 1 && <path class="line" d={path(at)} />}
    </svg>
  )
}
