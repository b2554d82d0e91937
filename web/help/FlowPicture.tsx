import styles from './FlowPicture.module.css'

const STAGES = [
  { title: 'Plan', lines: ['Is the backend well?', 'Is the name free?', 'Is there a certificate?'] },
  { title: 'Right to act', lines: ['for one plan, one use,', 'five minutes,', 'from your address'] },
  { title: 'Apply', lines: ['certificate,', 'then proxy entry,', 'then DNS; verified'] },
  { title: 'Remove', lines: ['DNS first,', 'then proxy entry;', 'a backup is kept'] },
] as const

const [BOX, GAP, TOP] = [190, 44, 52]
const leftOf = (stage: number): number => 2 + stage * (BOX + GAP) + (stage > 0 ? 16 : 0)

/** The whole flow in one picture, whose description contains its text. A narrow screen gets a list instead. */
export function FlowPicture() {
  return (
    <figure className={styles.figure} aria-label="The flow in one picture">
      <ol className={styles.stages}>
        {STAGES.map(({ title, lines }, stage) => (
          <li key={title} className={stage === 0 ? undefined : styles.act}>
            <strong>
              {stage + 1}. {title}
            </strong>{' '}
            {lines.join(' ')} <em>{stage === 0 ? 'Anybody' : 'Internal network only'}</em>
          </li>
        ))}
      </ol>
      <svg viewBox="0 0 932 226" role="img" aria-labelledby="flow-title flow-words" className={styles.picture}>
        <title id="flow-title">From plan to removal</title>
        <desc id="flow-words">
          Anybody may plan, which looks at backend, name, certificate and edge and changes nothing. On the internal
          network the right to act is issued for one plan and one use; it is spent on an apply, which makes certificate,
          proxy entry and DNS record together and puts everything back if a step fails, or on a removal, which takes the
          name out of DNS first.
        </desc>
        <text x="2" y="34" className={styles.everybody}>
          Anybody: only looks
        </text>
        <rect x={leftOf(1) - 22} y="8" width="704" height="214" rx="14" className={styles.inside} />
        <text x={leftOf(1)} y="34" className={styles.network}>
          Internal network only: changes something
        </text>
        {STAGES.map(({ title, lines }, stage) => (
          <g key={title} transform={`translate(${leftOf(stage)} ${TOP})`}>
            <rect width={BOX} height="114" rx="10" className={stage === 0 ? styles.looking : styles.acting} />
            <circle cx="26" cy="27" r="11" className={styles.disc} />
            <text x="26" y="31.5" textAnchor="middle" className={styles.number}>
              {stage + 1}
            </text>
            <text x="46" y="32" className={styles.title}>
              {title}
            </text>
            {lines.map((line, row) => (
              <text key={line} x="16" y={59 + row * 19} className={styles.line}>
                {line}
              </text>
            ))}
            {stage > 0 && <path d={`M${stage === 1 ? -56 : -38} 57H-8m-7-6 7 6-7 6`} className={styles.arrow} />}
          </g>
        ))}
        <path d={`M${leftOf(2) + 150} 172v22h-110v-18m-6 7 6-8 6 8`} className={styles.back} />
        <text x={leftOf(2) + 52} y="214" className={styles.who}>
          a step fails: rolled back
        </text>
      </svg>
    </figure>
  )
}
