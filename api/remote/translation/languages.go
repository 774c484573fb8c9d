package translation

// languageNames are the names of the contract's languages in prompts.
var languageNames = map[string]string{
	"en": "English", "fr": "French", "de": "German", "es": "Spanish", "it": "Italian", "pt": "Portuguese", "pt-br": "Brazilian Portuguese",
	"ru": "Russian", "ja": "Japanese", "zh": "Simplified Chinese", "yue": "Cantonese", "ko": "Korean", "ar": "Arabic", "hi": "Hindi",
	"nl": "Dutch", "pl": "Polish", "tr": "Turkish", "sv": "Swedish", "no": "Norwegian (Bokmål)", "da": "Danish", "fi": "Finnish",
	"el": "Greek", "cs": "Czech", "hu": "Hungarian", "ro": "Romanian", "th": "Thai", "vi": "Vietnamese", "id": "Indonesian",
	"ms": "Malay", "he": "Hebrew", "uk": "Ukrainian", "sk": "Slovak", "bg": "Bulgarian", "hr": "Croatian", "lt": "Lithuanian",
	"lv": "Latvian", "et": "Estonian", "sl": "Slovenian",
}

// otherCodes are LibreTranslate's codes for languages with another code in the contract. The first code that a server
// has is used.
var otherCodes = map[string][]string{"pt-br": {"pt-BR", "pb", "pt"}, "zh": {"zh", "zh-Hans"}, "no": {"nb", "no"}}
