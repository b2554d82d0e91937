import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { useHosts } from '../api/hosts.ts'
import { usePolicy } from '../api/policy.ts'
import { Badge } from '../parts/Badge.tsx'
import control from '../parts/control.module.css'
import { Dialog } from '../parts/Dialog.tsx'
import { Icon } from '../parts/icons.tsx'
import { go } from '../shell/location.ts'
import { type Entry, entriesFor } from './entries.ts'
import styles from './Palette.module.css'

/** Goes anywhere and begins anything, by name. */
export default function Palette({ onClose }: { readonly onClose: () => void }) {
  const id = useId()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const entries = entriesFor(text, useHosts().data?.rows ?? [], usePolicy().data)
  const at = Math.min(chosen, entries.length - 1)
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' })
  }, [id, at])
  const follow = (entry: Entry | undefined) => {
    if (!entry) return
    onClose()
    if (entry.isElsewhere) window.open(entry.to, '_blank', 'noreferrer')
    else go(entry.to)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1 }
    const to = moves[event.key]
    if (to === undefined && event.key !== 'Enter') return
    event.preventDefault()
    if (to === undefined) follow(entries[at])
    else setChosen((to + entries.length) % Math.max(1, entries.length))
  }
  return (
    <Dialog title="Go to" onClose={onClose} isTitleHidden>
      <input
        className={control.control}
        role="combobox"
        aria-label="Host, screen or act"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}
        placeholder="A host, a screen or an act, such as “mute api”"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setChosen(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div role="listbox" id={`${id}-list`} aria-label="What fits" className={styles.entries}>
        {entries.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the text field
          <div
            key={`${entry.words} ${entry.to}`}
            role="option"
            id={`${id}-${index}`}
            tabIndex={-1}
            aria-selected={index === at}
            className={styles.entry}
            onPointerMove={() => setChosen(index)}
            onClick={() => follow(entry)}
          >
            <Icon name={entry.icon} />
            <span className={styles.words}>{entry.words}</span>
            {entry.badge && <Badge badge={entry.badge} />}
          </div>
        ))}
      </div>
      {entries.length === 0 && <p className={styles.none}>Nothing has this name.</p>}
      <p className={styles.keys}>
        <kbd>↑</kbd> <kbd>↓</kbd> choose, <kbd>Enter</kbd> goes there, <kbd>Esc</kbd> closes
      </p>
    </Dialog>
  )
}
