package translation

// languageNames has the names of the contract's languages, as prompts use them.
var languageNames = map[string]string{
	"en": "English", "fr": "French", "de": "German", "es": "Spanish", "it": "Italian", "pt": "Portuguese", "pt-br": "Brazilian Portuguese",
	"ru": "Russian", "ja": "Japanese", "zh": "Simplified Chinese", "yue": "Cantonese", "ko": "Korean", "ar": "Arabic", "hi": "Hindi",
	"nl": "Dutch", "pl": "Polish", "tr": "Turkish", "sv": "Swedish", "no": "Norwegian (Bokmål)", "da": "Danish", "fi": "Finnish",
	"el": "Greek", "cs": "Czech", "hu": "Hungarian", "ro": "Romanian", "th": "Thai", "vi": "Vietnamese", "id": "Indonesian",
	"ms": "Malay", "he": "Hebrew", "uk": "Ukrainian", "sk": "Slovak", "bg": "Bulgarian", "hr": "Croatian", "lt": "Lithuanian",
	"lv": "Latvian", "et": "Estonian", "sl": "Slovenian",
}

// otherCodes has LibreTranslate's codes for languages that have another code in the contract. If a server has several
// of the codes, the first code is used.
var otherCodes = map[string][]string{"pt-br": {"pt-BR", "pb", "pt"}, "zh": {"zh", "zh-Hans"}, "no": {"nb", "no"}}
