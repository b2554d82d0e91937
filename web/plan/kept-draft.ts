import { type Draft, hostOf } from './draft.ts'

const NAME = 'drawbridge.drafts'

/** The drafts of this tab by form, so that Back, a reload and other screens lose none. They hold no credential. */
function all(): Record<string, Draft> {
  try {
    return JSON.parse(sessionStorage.getItem(NAME) ?? '{}') as Record<string, Draft>
  } catch {
    return {}
  }
}

function write(drafts: Record<string, Draft>): void {
  try {
    sessionStorage.setItem(NAME, JSON.stringify(drafts))
  } catch {
    // Without storage, the draft is lost when the form closes.
  }
}

export const keptDraft = (form: string): Partial<Draft> => all()[form] ?? {}

export const keepDraft = (form: string, draft: Draft): void => write({ ...all(), [form]: draft })

/** Call it when an apply of the host was requested: its drafts are done. */
export const forgetDrafts = (host: string): void =>
  write(Object.fromEntries(Object.entries(all()).filter(([, draft]) => hostOf(draft) !== host)))
