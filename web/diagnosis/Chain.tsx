import type { Link } from '../api/diagnosis.ts'
import { withDates } from '../parts/time.ts'
import styles from './Chain.module.css'
import { type LinkState, stateOf, type WayLink, wholeWay } from './way.ts'

const NAMES: Record<WayLink['link'], string> = {
  request: 'Request through the edge',
  dns: 'Name',
  edge: 'Edge',
  tls: 'TLS',
  server_block: 'Server block',
  proxy_pass: 'proxy_pass',
  backend_tcp: 'Backend: connection',
  backend_health: 'Backend: health path',
  error_log: 'Error log',
}
const WORDS = { good: 'in order', warning: 'needs attention', broken: 'broken', unknown: 'not checked' } as const
type State = LinkState

interface ChainProps {
  readonly chain: readonly Link[]
  readonly badge: string
  /** The level of the certificate, if the host has one. */
  readonly certificate?: string | undefined
}

/** The links of a request from the name to the backend. The log is not a link, so it is shown separately. */
export function Chain({ chain, badge, certificate }: ChainProps) {
  const way = wholeWay(chain, badge)
  /** A certificate that ends soon still works, but it gets no tick. */
  const shownState = (link: WayLink): State =>
    link.link === 'tls' && link.ok && (certificate === 'warning' || certificate === 'critical')
      ? 'warning'
      : stateOf(link)
  const log = chain.find(({ link }) => link === 'error_log')
  const broken = way.findIndex((link) => stateOf(link) === 'broken')
  return (
    <div>
      <h3 className={styles.title}>From name to backend</h3>
      <ol className={styles.chain}>
        {way.map((link, at) => (
          <li
            key={link.link}
            className={styles.link}
            data-state={shownState(link)}
            data-after={broken >= 0 && at > broken}
          >
            {at > 0 && <Connector isBroken={at === broken} />}
            <Node state={shownState(link)} />
            <div className={styles.words}>
              <p className={styles.name}>
                {NAMES[link.link]}
                <span className={WORDS_SHOWN[shownState(link)] ?? 'off-screen'}>{WORDS[shownState(link)]}</span>
              </p>
              <p className={styles.detail}>{withDates(link.detail)}</p>
            </div>
          </li>
        ))}
      </ol>
      {log && (
        <p className={styles.log}>
          <strong>{NAMES.error_log}:</strong> {log.detail}
        </p>
      )}
    </div>
  )
}

const WORDS_SHOWN: Partial<Record<State, string | undefined>> = { broken: styles.broken, warning: styles.attention }

/** The line to a link, with a gap if the link is broken. */
function Connector({ isBroken }: { readonly isBroken: boolean }) {
  return (
    <svg viewBox="0 0 24 20" aria-hidden="true" className={styles.connector} data-broken={isBroken}>
      {isBroken ? <path d="M12 0v4M8.5 5.5l7 3M8.5 11.5l7 3M12 16v4" /> : <path d="M12 0v20" />}
    </svg>
  )
}

function Node({ state }: { readonly state: State }) {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true" className={styles.node}>
      <circle cx="12" cy="12" r="10" />
      {state === 'good' && <path d="m7.5 12.5 3 3 6-6.5" />}
      {state === 'warning' && <path d="M12 6.5v7m0 3.2v.3" />}
      {state === 'broken' && <path d="m8.5 8.5 7 7m0-7-7 7" />}
      {state === 'unknown' && <path d="M8.5 12h7" />}
    </svg>
  )
}
