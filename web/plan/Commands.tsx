import { Tabs } from 'radix-ui'
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
    { name: 'curl', text: curlCommands(plan.planId, action, location.origin, policy) },
  ]
  return (
    <div className={styles.commands}>
      <p className={styles.lead}>
        To {action} this plan, paste this on a machine in {policy.internalNetworks.join(' or ')}. It holds no
        credential: the right to act is issued there, for one use.
      </p>
      <Tabs.Root defaultValue="CLI">
        <Tabs.List aria-label="Way to run it" className={styles.tabs}>
          {ways.map(({ name }) => (
            <Tabs.Trigger key={name} value={name} className={styles.tab}>
              {name}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        {ways.map(({ name, text }) => (
          <Tabs.Content key={name} value={name} className={styles.content}>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
            <pre tabIndex={0}>{text}</pre>
            <CopyButton text={text} what={`the ${name} command`} />
          </Tabs.Content>
        ))}
      </Tabs.Root>
    </div>
  )
}
