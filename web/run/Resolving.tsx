import { Fragment } from 'react'
import { usePolicy } from '../api/policy.ts'
import { CopyButton } from '../parts/CopyButton.tsx'
import styles from './Resolving.module.css'

/** What an administrator can do about a blocked run. Only a command on the server can do it. */
export function Resolving({ planId }: { readonly planId: string }) {
  const { configFile = 'FILE' } = usePolicy().data ?? {}
  const finish = `drawbridge resolve ${planId} --config ${forShell(configFile)}`
  const keep = `${finish} --accept`
  return (
    <>
      <p>The rollback failed, too. No run can change the host until a command on the server resolves it.</p>
      <p>To finish the rollback:</p>
      <Command text={finish} what="the command that finishes" />
      <p>To keep everything as it stands:</p>
      <Command text={keep} what="the command that keeps" />
    </>
  )
}

/** No word of a command is broken where it fits into a line: half an option is another one. */
function Command({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <div className={styles.command}>
      <code>
        {text.split(' ').map((word, at) => (
          <Fragment key={at}>
            {at > 0 && ' '}
            <span>{word}</span>
          </Fragment>
        ))}
      </code>
      <CopyButton text={text} what={what} />
    </div>
  )
}

/** A path as one word of a shell. */
const forShell = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`)
