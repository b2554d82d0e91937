import type { ReactNode } from 'react'
import type { Policy } from '../api/policy.ts'
import { Keys } from '../palette/Keys.tsx'
import { Panel } from '../parts/Panel.tsx'
import { span } from '../parts/time.ts'
import { portRanges } from '../plan/draft.ts'
import { Link } from '../shell/Link.tsx'
import { Page } from '../shell/Page.tsx'
import { FlowPicture } from './FlowPicture.tsx'
import styles from './HelpPage.module.css'

export default function HelpPage({ policy }: { readonly policy: Policy }) {
  return (
    <Page
      title="How it works, and what is allowed here"
      lead="Two stages: a plan that only looks, which anybody may make, and an apply that changes something, which only the internal network may do."
    >
      <Panel title="The flow">
        <FlowPicture />
      </Panel>
      <div className={styles.columns}>
        <Panel title="Allowed here">
          <Rules policy={policy} />
        </Panel>
        <div className={styles.side}>
          <Panel title="You">
            <p>
              The service sees you on the <strong>{policy.caller.network}</strong> network. You may:{' '}
              {policy.caller.may.map((action) => WORDS[action]).join(', ')}.
            </p>
            {policy.caller.network === 'public' && (
              <p>To apply or remove, come from {policy.internalNetworks.join(' or ') || 'an internal network'}.</p>
            )}
          </Panel>
          <Panel title="Keys">
            <Keys />
          </Panel>
          <Panel title="More">
            <ul className={styles.links}>
              <li>
                <a href="/docs">API reference</a>: every call, with what it takes and answers
              </li>
              <li>
                <a href="/api/openapi.json">OpenAPI document</a>
              </li>
              <li>
                <Link to="/plan">Expose a service</Link>
              </li>
            </ul>
            <p className={styles.version}>Drawbridge {policy.version}</p>
          </Panel>
        </div>
      </div>
    </Page>
  )
}

const WORDS: Record<Policy['caller']['may'][number], string> = {
  read: 'look',
  plan: 'plan',
  token: 'get the right to act',
  apply: 'apply',
  remove: 'remove',
  repair: 'repair an exposure',
  accept: 'accept an exposure as it stands',
  renew: 'renew a certificate',
  adopt: 'adopt a hand-written site',
  release: 'release an exposure',
}

function Rules({ policy }: { readonly policy: Policy }) {
  const { servers, zones, ports, plan, capability, internalNetworks, flow, conflictingRecordTypes, rateLimits } = policy
  const limits = rateLimits[policy.caller.network]
  const own = Object.entries(ports.deniedOn).map(([server, denied]) => `${denied.join(', ')} on ${server}`)
  return (
    <dl className={styles.rules}>
      <Rule name="Zones">{zones.join(', ') || 'none'}</Rule>
      <Rule name="Target servers">{servers.targets.join(', ') || 'none'}</Rule>
      <Rule name="Verified on">
        Primary {servers.primary}
        {servers.secondary && `, and Secondary ${servers.secondary} without deciding`}
      </Rule>
      <Rule name="Ports">
        {portRanges(ports.allowed)}, but not {[...ports.denied, ...own].join(', ')}: those are reserved for Drawbridge
      </Rule>
      <Rule name="Health path">answers with HTTP 2xx within {policy.health.timeoutSeconds} s</Rule>
      <Rule name="Name is taken by">{conflictingRecordTypes.join(', ')}, a delegation, or another exposure</Rule>
      <Rule name="A plan lives">{span(plan.ttlSeconds * 1000)}</Rule>
      <Rule name="The right to act">
        lives {span(capability.ttlSeconds * 1000)}, for one use, bound to {capability.boundTo.join(', ')}
      </Rule>
      <Rule name="Internal networks">{internalNetworks.join(', ') || 'none'}</Rule>
      <Rule name="Authorization">{flow === 'capability' ? 'one-time capability' : 'older token flow'}</Rule>
      <Rule name="Your limits">
        {limits.plan} plans, {limits.diagnose} diagnoses and {limits.read} reads a minute
      </Rule>
    </dl>
  )
}

function Rule({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
