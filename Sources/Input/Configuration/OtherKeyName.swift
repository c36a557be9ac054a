import KeyboardModes
import Keyboards

/// Names that a configuration cannot use for keys, but that errors explain: legends of keyboards in
/// other languages, keysyms of xkb, and words such as `numpad5` and `mouse1`.
enum OtherKeyName {
  /// The short name of the key that `name` means; `nil` if `name` is unknown.
  ///
  /// - Parameter isModifier: whether `name` stands before another key, where only a modifier is
  ///   valid.
  static func shortName(for name: String, isModifier: Bool) -> String? {
    let folded = name.lowercased().filter { $0 != "_" }
    if let modifier = modifiers[folded] { return modifier }
    guard !isModifier else { return nil }
    for prefix in ["numpad", "keypad"] where folded.hasPrefix(prefix) {
      return KeyCode(writtenAs: "KP\(folded.dropFirst(6))")?.shortName
    }
    guard folded.hasPrefix("xf86") else { return keys[folded] }
    let rest = String(folded.dropFirst(4))
    // After `XF86`, most names of xkb equal names of the kernel.
    return keysyms[rest] ?? KeyCode(writtenAs: rest)?.shortName
  }

  private static let modifiers = table(
    """
    Ctrl=strg,controll,controlr Shift=umschalt,umsch,maj,mayús,mayus,maiusc,shiftl,shiftr
    Super=superl,superr Alt=altl,altr
    """)

  /// German, French, Spanish and Italian legends, and xkb's names.
  private static let keys = table(
    """
    Delete=entf,suppr,supr,canc Insert=einfg,inser,insertar Home=pos1,origine,inicio,inizio
    End=ende,fin,fine Page_Up=bildauf,pgpréc,pgprec,repág,repag,pagsu,prior
    Page_Down=bildab,pgsuiv,avpág,avpag,paggiù,paggiu,next
    Print_Screen=druck,impr,imprécran,imprecran,imprpant,stamp
    Scroll_Lock=rollen,arrêtdéfil,arretdefil,arrêt,défil,bloqdespl,blocscorr
    Caps_Lock=feststelltaste,feststell,verrmaj,bloqmayús,bloqmayus,blocmaiusc
    Num_Lock=verrnum,bloqnum,blocnum Esc=échap,echap Enter=eingabe,entrée,entree,intro,invio
    Space=leertaste,leer,espace,espacio,spazio Backspace=rück,rücktaste,retroceso
    Pause=attn,pausa AltGr=isolevel3shift Menu=multikey KP_Plus=kpadd,plus KP_Minus=kpsubtract
    KP_Asterisk=kpmultiply KP_Slash=kpdivide KP_Dot=kpdecimal
    BTN_LEFT=mouse1,leftclick BTN_MIDDLE=mouse2,middleclick BTN_RIGHT=mouse3,rightclick
    """)

  /// The names of xkb after `XF86`. Source: xkb's rules for evdev, which desktops use.
  private static let keysyms = table(
    """
    Mute=audiomute Mic_Mute=audiomicmute Volume_Up=audioraisevolume Volume_Down=audiolowervolume
    Play_Pause=audioplay Pausecd=audiopause Next_Song=audionext Previous_Song=audioprev
    Stopcd=audiostop Record=audiorecord Rewind=audiorewind Fastforward=audioforward
    Shuffle=audiorandomplay Media=audiomedia Sound=audiopreset Brightness_Up=monbrightnessup
    Brightness_Down=monbrightnessdown Brightness_Cycle=monbrightnesscycle
    Kbdillumup=kbdbrightnessup Kbdillumdown=kbdbrightnessdown Kbdillumtoggle=kbdlightonoff
    Switchvideomode=display Video_Next=nextvmode Video_Prev=prevvmode
    Rotate_Display=rotatewindows Rotate_Lock_Toggle=rotationlocktoggle Cyclewindows=taskpane
    Angle=cycleangle Power=poweroff Coffee=screensaver Calc=calculator File=explorer
    Computer=mycomputer Camera=webcam Config=tools Refresh=reload Connect=go Msdos=dos
    Games=game Wordprocessor=word Spreadsheet=excel Forwardmail=mailforward Ejectcd=eject
    KEY_MENU=menukb Scale=launcha All_Applications=launchb Prog1=launch1 Prog2=launch2
    Prog3=launch3 Prog4=launch4 F14=launch5 F15=launch6 F16=launch7 F17=launch8 F18=launch9
    """)

  /// Maps each name after an equals sign to the short name before the sign.
  private static func table(_ text: String) -> [String: String] {
    text.split { $0.isWhitespace }.reduce(into: [:]) { names, entry in
      let parts = entry.split(separator: "=")
      for name in parts[1].split(separator: ",") { names[String(name)] = String(parts[0]) }
    }
  }
}
