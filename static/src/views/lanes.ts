// Pure: which lane lines pass through each timeline row.

import type { Branch, TimelineRow } from '../wire'

export interface LaneLine {
  lane: number
  part: 'through' | 'down' | 'join'
  /** For a join: the lane of the checkpoint that was forked. */
  to: number
}

/** Lines for each row (rows are newest first): a branch runs from its tip down to the row that it was forked from. */
export function laneLines(rows: TimelineRow[], branches: Branch[]): LaneLine[][] {
  const index = new Map(rows.map((row, i) => [row.checkpoint_id, i]))
  const lines: LaneLine[][] = rows.map(() => [])
  for (const branch of branches) {
    const tip = rows.findIndex(row => row.branch === branch.id)
    const fork = branch.forked_from === null ? undefined : index.get(branch.forked_from)
    const first = rows.findLastIndex(row => row.branch === branch.id)
    if (tip === -1) continue
    const end = fork ?? (branch.forked_from !== null || first === rows.length - 1 ? rows.length : first)
    for (let i = tip; i < Math.min(end, rows.length); i++) {
      if (i === end && fork === undefined) continue
      const last = fork === undefined && branch.forked_from === null && i === first
      if (!last) lines[i]?.push({ lane: branch.lane, part: i === tip ? 'down' : 'through', to: branch.lane })
      else if (i !== tip) lines[i]?.push({ lane: branch.lane, part: 'join', to: branch.lane })
    }
    if (fork !== undefined) lines[fork]?.push({ lane: branch.lane, part: 'join', to: rows[fork]?.lane ?? 0 })
  }
  return lines
}
