import type { Plan } from '../api/plans.ts'
import styles from './Changes.module.css'
import { type Contrast, contrastsOf } from './contrasts.ts'

/** The state before and after the apply, side by side. */
export function Changes({ plan, former }: { readonly plan: Plan; readonly former: Plan | undefined }) {
  return (
    <table className={styles.changes}>
      <caption className="off-screen">What an apply of {plan.host} changes</caption>
      <thead>
        <tr>
          <td />
          <th scope="col">Before</th>
          <th scope="col">After</th>
        </tr>
      </thead>
      <tbody>
        {contrastsOf(plan, former).map((contrast) => (
          <Row key={contrast.what} {...contrast} />
        ))}
      </tbody>
    </table>
  )
}

function Row({ what, before, after, isNew }: Contrast) {
  return (
    <tr>
      <th scope="row">{what}</th>
      <td className={styles.before}>{before}</td>
      <td className={styles.after} data-new={isNew}>
        {after.map((line) => (
          <code key={line}>{line}</code>
        ))}
      </td>
    </tr>
  )
}
