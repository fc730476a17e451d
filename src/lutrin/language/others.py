"""Function words of other languages as data: they tell a question in another language from an English one."""

FUNCTION_WORDS = {
    "cs": "co jak jaký jaká jaké proč kde kdy kdo je jsou jsem není se si na do ze pro při který která které nebo "
    "když může mi mám jaky proc vysvětli čeho kolik",
    "da": "hvad hvordan hvorfor hvor hvornår hvem hvilken hvilke er og ikke jeg det den en et til af på med som kan "
    "man betyder forklar mellem",
    "de": "was wie viele warum wieso weshalb wo wann wer welche welcher welches welchen wozu ist sind war wird werden "
    "wurde der die das dem den des ein eine einen einem einer und oder nicht ich du man es sich von vom zum "
    "zur mit für im auf bei zwischen kann gibt bedeutet bitte mir erkläre erklär erklaere heißt funktioniert "
    "unterschied fur kein keine auch noch mein meine wenn dass",
    "es": "qué que cómo como cuál cual cuáles cuándo cuando cuánto cuanto cuántos dónde donde quién por para es son "
    "está el la los las un una unos de del al y o en con se su lo porqué sirve significa explica explícame "
    "entre hay puedo puede cuantos tiene diferencia funciona",
    "fi": "mikä mitä miksi miten missä milloin kuka kuinka mitkä on ovat ja tai ei se että kun voi minä mita mika "
    "toimii tarkoittaa välillä",
    "fr": "qu'est qu'est-ce est-ce quoi que quel quelle quels quelles comment pourquoi où quand qui combien est "
    "sont le la les un une des du de et ou dans pour avec sur ce cette il elle on je se au aux à c'est ne pas "
    "peut fait expliquez explique moi entre sert l'on l'eau différence quest",
    "hu": "mi mit mik miért hogyan hogy hol mikor ki mennyi melyik milyen az egy és van vagy nem között jelent "
    "működik hány",
    "id": "apa apakah bagaimana mengapa kenapa siapa dimana kapan berapa yang adalah itu ini dan dari untuk dengan "
    "di ke pada jelaskan antara cara kerja perbedaan saya",
    "it": "che cosa cos'è cos come perché perche quale quali quando quanto quanti dove chi è sono il lo la gli le "
    "un una uno di del della dei delle dello e o in con per si non posso può tra fra serve significa spiega "
    "spiegami funziona c'è qual differenza l'uso",
    "nl": "wat hoe waarom waar wanneer wie welke welk hoeveel is een het de en van zijn wordt werkt niet ik je met "
    "voor op bij dat die dit betekent kan leg uit tussen naar verschil moet",
    "no": "hva hvordan hvorfor hvor når hvem hvilken hvilke er og ikke jeg det den en et til av på med som kan man "
    "betyr forklar mellom",
    "pl": "co jak jaki jaka jakie dlaczego gdzie kiedy kto ile czym czy jest są to się nie na do w z i od dla po "
    "przy który która które lub oraz między działa oznacza wyjaśnij mi",
    "pt": "que como qual quais quando quanto quantos onde quem por porque é são está o a os as um uma de do da dos "
    "das e ou em no na com para se não posso pode entre explique significa funciona serve diferença quê",
    "ro": "ce cum de când unde cine care cât este sunt un o și sau în din la cu pentru nu se pe că dintre înseamnă "
    "funcționează explică",
    "sv": "vad hur varför var när vem vilken vilket vilka är och inte jag det den en ett till av på med som kan man "
    "betyder förklara mellan fungerar",
    "sw": "nini jinsi gani kwa ya ni wa na kwanini vipi wapi lini nani hii katika la inafanyaje",
    "tr": "nedir ne nasıl neden niçin niye hangi kaç kim nerede mi mı mu mü ve bir bu için ile çalışır arasındaki "
    "nasil demek açıkla fark",
    "vi": "là gì như thế nào tại sao của và có được cho với trong một các những khi để",
}
"""By ISO 639-1 code, of languages in the Latin script."""
ALSO_ENGLISH = frozenset(
    """a al as at c'est come con cos cum da das data de dem den der des di die do du e ei el en er es et fur gibt go
    hall hat hay ich ii il im in is it just ki kim la las le les lit lo long los ma man me mein mi mit mu na nah ne
    ni no non not o ob of on op or os par para per po quest qui rang si sin site so son sort sous sur te the ti to
    tom tu un und uno van var via vis von vs w wa war was wat we wie x y z case pas si que som bei die fra her here if
    cara kerja on min per ton pad pan main do se on se to ya i on such non et en met hoe kan till till unter dit vers
    wird ie ve hangi kart me wer pro chi li pi ile moi ette het zur gani leg moet die rot mut tag serve
    comment aux""".split()
)
"""Of the words above and their like, those that English texts, names and typing slips hold as well: half a sign."""
SCRIPTS = {
    "ARABIC": "ar fa ur", "BENGALI": "bn", "CJK": "zh ja", "CYRILLIC": "ru uk bg sr", "DEVANAGARI": "hi mr",
    "GREEK": "el", "HANGUL": "ko", "HEBREW": "he", "HIRAGANA": "ja", "KATAKANA": "ja", "TAMIL": "ta", "THAI": "th",
    "LATIN": "",
}  # fmt: skip
"""Languages by the script of their letters, as Unicode names it."""
