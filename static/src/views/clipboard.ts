// Copy text, and say so.

import { dispatch } from '../store'

export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    dispatch({ type: 'toastShown', kind: 'info', title: `${what} copied.`, fix: '' })
  } catch {
    dispatch({ type: 'toastShown', kind: 'error', title: `${what} could not be copied.`, fix: 'Allow this page to use the clipboard.' })
  }
}
