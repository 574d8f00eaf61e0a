// HTTP. Answers become actions in commands.ts; nothing here knows the store.

import type { ErrorBody } from '../wire'

/** An answer that says no: it has a reason and a fix. */
export class Refused extends Error {
  constructor(readonly body: ErrorBody) {
    super(body.reason)
  }
}

export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const init: RequestInit = { method, credentials: 'same-origin', headers: { Accept: 'application/json' } }
  if (body !== undefined) {
    init.body = JSON.stringify(body)
    init.headers = { Accept: 'application/json', 'Content-Type': 'application/json' }
  }
  let answer: Response
  try {
    answer = await fetch(path, init)
  } catch {
    throw new Refused({ error: 'unreachable', reason: 'The server does not answer.', fix: 'Is forkpoint still running?', problems: [] })
  }
  if (answer.status === 204) return undefined as T
  const data: unknown = await answer.json().catch(() => null)
  if (!answer.ok) throw new Refused(asError(data, answer.status))
  return data as T
}

function asError(data: unknown, status: number): ErrorBody {
  if (data !== null && typeof data === 'object' && 'reason' in data) return data as ErrorBody
  return { error: 'unknown', reason: `The server answered ${status}.`, fix: 'Try again.', problems: [] }
}

export function query(values: Record<string, string | null | undefined>): string {
  const parts = new URLSearchParams()
  for (const [key, value] of Object.entries(values)) if (value) parts.set(key, value)
  const text = parts.toString()
  return text ? `?${text}` : ''
}
