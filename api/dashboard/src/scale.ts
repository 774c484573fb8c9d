// The arithmetic of the graphs.

/** ticks returns round numbers for an axis, from 0 to a number that is at least `most`. */
export function ticks(most: number): number[] {
  if (most <= 0) return [0, 1]
  const rough = most / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = Math.max(
    1,
    [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= rough && Number.isInteger(n)) ?? 10 * power,
  )
  const list = [0]
  while ((list.at(-1) ?? 0) < most) list.push((list.at(-1) ?? 0) + step)
  return list
}

/** some returns at most `count` indices of a list, at equal distances. */
export function some(length: number, count: number): number[] {
  const step = Math.max(1, Math.ceil(length / Math.max(1, count)))
  return Array.from({ length: Math.ceil(length / step) }, (_, i) => i * step)
}

/** path returns the SVG path that connects points. */
export const path = (points: (readonly [number, number])[]) =>
  points.map(([x, y], i) => (i ? 'L' : 'M') + x.toFixed(1) + ' ' + y.toFixed(1)).join('')
