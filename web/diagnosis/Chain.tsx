import type { Link } from '../api/diagnosis.ts'
import styles from './Chain.module.css'

const NAMES: Record<Link['link'], string> = {
  dns: 'Name',
  edge: 'Edge',
  tls: 'TLS',
  server_block: 'Server block',
  proxy_pass: 'proxy_pass',
  backend_tcp: 'Backend: connection',
  backend_health: 'Backend: health path',
  error_log: 'Error log',
}
const WORDS = { good: 'in order', broken: 'broken', unknown: 'not asked' } as const
type State = keyof typeof WORDS

const stateOf = ({ ok }: Link): State => (ok === null ? 'unknown' : ok ? 'good' : 'broken')

/** The links of a request from the name to the backend. The log is not a link, so it is shown separately. */
export function Chain({ chain }: { readonly chain: readonly Link[] }) {
  const way = chain.filter(({ link }) => link !== 'error_log')
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
            data-state={stateOf(link)}
            data-after={broken >= 0 && at > broken}
          >
            {at > 0 && <Connector isBroken={at === broken} />}
            <Node state={stateOf(link)} />
            <div className={styles.words}>
              <p className={styles.name}>
                {NAMES[link.link]}
                <span className={stateOf(link) === 'broken' ? styles.broken : 'off-screen'}>
                  {WORDS[stateOf(link)]}
                </span>
              </p>
              <p className={styles.detail}>{link.detail}</p>
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
      {state === 'broken' && <path d="m8.5 8.5 7 7m0-7-7 7" />}
      {state === 'unknown' && <path d="M8.5 12h7" />}
    </svg>
  )
}
