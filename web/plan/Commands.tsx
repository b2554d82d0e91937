import { type KeyboardEvent, useId, useRef, useState } from 'react'
import type { Plan } from '../api/plans.ts'
import type { Policy } from '../api/policy.ts'
import { CopyButton } from '../parts/CopyButton.tsx'
import styles from './Commands.module.css'
import { cliCommand, curlCommands, nextAction } from './commands.ts'

/** Commands to paste on a machine in the internal network. */
export function Commands({ plan, policy }: { readonly plan: Plan; readonly policy: Policy }) {
  const action = nextAction(plan)
  const ways = [
    { name: 'CLI', text: cliCommand(plan.planId, action, location.origin) },
    { name: 'curl', text: curlCommands(plan, action, location.origin, policy) },
  ]
  return (
    <div className={styles.commands}>
      <p className={styles.lead}>
        To {action} this plan, paste this on a machine in {policy.internalNetworks.join(' or ')}. It holds no
        credential: the right to act is issued there, for one use.
      </p>
      <Tabs ways={ways} />
    </div>
  )
}

interface Way {
  readonly name: string
  readonly text: string
}

/** One of several texts at a time. The arrow keys go from tab to tab. */
function Tabs({ ways }: { readonly ways: readonly Way[] }) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const [shown, setShown] = useState(0)
  const way = ways[shown]
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (by === undefined) return
    event.preventDefault()
    const next = (shown + by + ways.length) % ways.length
    setShown(next)
    list.current?.querySelectorAll<HTMLElement>('[role="tab"]')[next]?.focus()
  }
  if (!way) return null
  return (
    <div>
      <div ref={list} role="tablist" aria-label="Way to run it" className={styles.tabs} onKeyDown={onKeyDown}>
        {ways.map(({ name }, at) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={at === shown}
            aria-controls={`${id}-panel`}
            tabIndex={at === shown ? 0 : -1}
            className={styles.tab}
            onClick={() => setShown(at)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${way.name}`} className={styles.content}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <pre tabIndex={0}>{way.text}</pre>
        <CopyButton text={way.text} what={`the ${way.name} command`} />
      </div>
    </div>
  )
}
