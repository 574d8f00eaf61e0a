// The tasks that run, or ran, from this checkpoint.

import { go } from '../focus'
import type { CheckpointView } from '../wire'
import { brief } from '../values'
import { Tree } from './Tree'

export function Tasks({ view }: { view: CheckpointView }) {
  if (view.tasks.length === 0) return <p class="empty">Nothing runs from here: the thread ended.</p>
  return (
    <ul class="tasks">
      {view.tasks.map(task => {
        const state = task.error !== null ? 'failed' : task.ended ? 'done' : task.interrupts.length > 0 ? 'waiting' : 'next'
        return (
          <li key={task.id || task.name}>
            <div class="task-head">
              <b>{task.name}</b>
              <span class={`mark ${state}`}>{state === 'done' ? 'ended' : state === 'next' ? 'not run yet' : state}</span>
              {task.subgraph_ns && <button class="quiet" onClick={() => go({ ns: task.subgraph_ns ?? '' })}>open its timeline</button>}
            </div>
            {task.error !== null && <pre class="text failed">{task.error}</pre>}
            {task.interrupts.map(asked => <p key={asked.id} class="dim">asked: {brief(asked.value, 300)}</p>)}
            {task.ended && <Tree name="result" value={task.result} />}
          </li>
        )
      })}
    </ul>
  )
}
