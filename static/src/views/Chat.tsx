// A list of messages as a chat; tool calls are joined to their results.

import type { Message } from '../values'
import { asMessage, pretty, textOf } from '../values'

const NAMES: Record<string, string> = { human: 'Person', ai: 'Model', tool: 'Tool', system: 'System' }

export function Chat({ values }: { values: unknown[] }) {
  const messages = values.map(asMessage).filter((message): message is Message => message !== null)
  const results = new Map(messages.filter(m => m.type === 'tool').map(m => [m.tool_call_id ?? '', m]))
  const called = new Set(messages.flatMap(m => (m.tool_calls ?? []).map(call => call.id)))
  return (
    <ol class="chat">
      {messages.filter(m => m.type !== 'tool' || !called.has(m.tool_call_id ?? '')).map((message, i) => (
        <li key={message.id ?? i} class={`bubble ${message.type}`} data-testid="chat-message">
          <div class="who">{NAMES[message.type] ?? message.type}{message.name ? ` (${message.name})` : ''}</div>
          {textOf(message.content) && <div class="said">{textOf(message.content)}</div>}
          {(message.tool_calls ?? []).map(call => {
            const result = results.get(call.id)
            return (
              <div key={call.id} class="call">
                <code>{call.name}({brief(call.args)})</code>
                <div class={`result${result?.status === 'error' ? ' failed' : ''}`}>{result ? textOf(result.content) : 'no result yet'}</div>
              </div>
            )
          })}
        </li>
      ))}
    </ol>
  )
}

function brief(args: unknown): string {
  const text = pretty(args).replace(/\s+/g, ' ')
  return text === '{ }' || text === '{}' ? '' : text
}
