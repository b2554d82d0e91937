import styles from './FlowPicture.module.css'

const STAGES = [
  {
    title: '1  Plan',
    who: 'anybody',
    lines: ['backend healthy?', 'name free?', 'certificate to be had?'],
    inside: false,
  },
  {
    title: '2  Right to act',
    who: 'inside only',
    lines: ['one plan, one use,', 'five minutes,', 'your address'],
    inside: true,
  },
  {
    title: '3  Apply',
    who: 'inside only',
    lines: ['certificate', 'then proxy entry', 'then DNS, verified'],
    inside: true,
  },
  { title: '4  Remove', who: 'inside only', lines: ['DNS first', 'then proxy entry', 'backup kept'], inside: true },
] as const

const [WIDTH, BOX, GAP] = [880, 190, 40]

/** The whole flow in one picture. Where there is little room it can be scrolled; its words stand in its description. */
export function FlowPicture() {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <figure className={styles.figure} tabIndex={0} aria-label="The flow in one picture">
      <svg viewBox={`0 0 ${WIDTH} 210`} role="img" aria-labelledby="flow-title flow-words" className={styles.picture}>
        <title id="flow-title">From plan to removal</title>
        <desc id="flow-words">
          Anybody may plan, which looks at backend, name and certificate and changes nothing. On the internal network
          the right to act is issued for one plan and one use; it is spent on an apply, which makes certificate, proxy
          entry and DNS record together and puts everything back if a step fails, or on a removal, which takes the name
          out of DNS first.
        </desc>
        <rect x={BOX + GAP / 2} y="6" width={WIDTH - BOX - GAP / 2} height="198" rx="14" className={styles.inside} />
        <text x={BOX + GAP} y="30" className={styles.network}>
          Internal network
        </text>
        {STAGES.map(({ title, who, lines, inside }, at) => (
          <g key={title} transform={`translate(${at * (BOX + GAP)} 48)`}>
            <rect
              width={BOX - (at === 0 ? 10 : 0)}
              height="112"
              rx="10"
              className={inside ? styles.acting : styles.looking}
            />
            <text x="16" y="28" className={styles.title}>
              {title}
            </text>
            {lines.map((line, row) => (
              <text key={line} x="16" y={52 + row * 19} className={styles.line}>
                {line}
              </text>
            ))}
            <text x="16" y="132" className={styles.who}>
              {who}
            </text>
            {at > 0 && <path d="M-34 56h26m-7-6 7 6-7 6" className={styles.arrow} />}
          </g>
        ))}
        <path d="M610 166v14H470v-14m-6 8 6-8 6 8" className={styles.back} />
        <text x="482" y="196" className={styles.who}>
          a step fails: put back
        </text>
      </svg>
    </figure>
  )
}
