// Pure: which lane lines pass through each timeline row.

import type { Branch, TimelineRow } from '../wire'

export interface LaneLine {
  lane: number
  /** From the dot down; through the whole row; from above into the dot; from above into the lane `to`. */
  part: 'down' | 'through' | 'up' | 'join'
  to: number
}

/** Lines for each row (rows are newest first): a branch runs from its tip down to the row that it was forked from. */
export function laneLines(rows: TimelineRow[], branches: Branch[]): LaneLine[][] {
  const lines: LaneLine[][] = rows.map(() => [])
  const at = new Map(rows.map((row, i) => [row.checkpoint_id, i]))
  const span = new Map<string, { tip: number; oldest: number }>()
  rows.forEach((row, i) => span.set(row.branch, { tip: span.get(row.branch)?.tip ?? i, oldest: i }))
  for (const { id, lane, forked_from } of branches) {
    const found = span.get(id)
    if (!found) continue
    const fork = forked_from === null ? undefined : at.get(forked_from)
    const complete = rows[found.oldest]?.checkpoint_id === id
    const end = fork ?? (complete && forked_from === null ? found.oldest : rows.length)
    if (end > found.tip) lines[found.tip]?.push({ lane, part: 'down', to: lane })
    for (let i = found.tip + 1; i < end; i++) lines[i]?.push({ lane, part: 'through', to: lane })
    if (fork !== undefined) lines[fork]?.push({ lane, part: 'join', to: rows[fork]?.lane ?? lane })
    else if (end > found.tip && end < rows.length) lines[end]?.push({ lane, part: 'up', to: lane })
  }
  return lines
}
