import { usePolicy } from '../api/policy.ts'
import { CopyButton } from '../parts/CopyButton.tsx'

/** What an administrator can do about a blocked run. Only a command on the server can do it. */
export function Resolving({ planId }: { readonly planId: string }) {
  const { configFile = 'FILE' } = usePolicy().data ?? {}
  const finish = `drawbridge resolve ${planId} --config ${forShell(configFile)}`
  const keep = `${finish} --accept`
  return (
    <>
      <p>The rollback failed, too. No run can change the host until a command on the server resolves it.</p>
      <p>
        To finish the rollback: <code>{finish}</code> <CopyButton text={finish} what="the command that finishes" />
      </p>
      <p>
        To keep everything as it stands: <code>{keep}</code> <CopyButton text={keep} what="the command that keeps" />
      </p>
    </>
  )
}

/** A path as one word of a shell. */
const forShell = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`)
